//! Tantivy as a peer: see ../README.md for the protocol.

use std::fs::{create_dir_all, File};
use std::io::{stdin, stdout, BufRead, BufReader, Write};
use std::time::Instant;

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions, FAST};
use tantivy::tokenizer::{TextAnalyzer, WhitespaceTokenizer};
use tantivy::{doc, Index, IndexWriter, ReloadPolicy, Term};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args[1].as_str() {
        "index" => index(&args[2], &args[3], args[4].parse()?),
        "serve" => serve(&args[2]),
        _ => Err("want index or serve".into()),
    }
}

fn register(index: &Index) {
    index
        .tokenizers()
        .register("blank", TextAnalyzer::builder(WhitespaceTokenizer::default()).build());
}

fn index(tokens: &str, dir: &str, threads: usize) -> Result<()> {
    let start = Instant::now();
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("blank")
        .set_index_option(IndexRecordOption::WithFreqs);
    let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    let number = schema.add_u64_field("number", FAST);
    create_dir_all(dir)?;
    let index = Index::create_in_dir(dir, schema.build())?;
    register(&index);
    let mut writer: IndexWriter = index.writer_with_num_threads(threads, threads * 512_000_000)?;
    for (i, line) in BufReader::with_capacity(1 << 20, File::open(tokens)?).lines().enumerate() {
        writer.add_document(doc!(text => line?, number => i as u64))?;
    }
    writer.commit()?;
    let first = start.elapsed().as_secs_f64();
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    println!("{{\"seconds\": {:.3}, \"seconds_before_merge\": {:.3}}}", start.elapsed().as_secs_f64(), first);
    Ok(())
}

fn serve(dir: &str) -> Result<()> {
    let index = Index::open_in_dir(dir)?;
    register(&index);
    let text = index.schema().get_field("text")?;
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let searcher = reader.searcher();
    if searcher.segment_readers().len() != 1 {
        return Err("want one segment".into());
    }
    let numbers = searcher.segment_reader(0).fast_fields().u64("number")?.first_or_default_col(0);
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let occur = if words[0] == "and" { Occur::Must } else { Occur::Should };
        let k: usize = words[1].parse()?;
        let start = Instant::now();
        let term = |w: &&str| -> Box<dyn Query> {
            Box::new(TermQuery::new(Term::from_field_text(text, w), IndexRecordOption::WithFreqs))
        };
        let query: Box<dyn Query> = if words.len() == 3 {
            term(&words[2])
        } else {
            Box::new(BooleanQuery::new(words[2..].iter().map(|w| (occur, term(w))).collect()))
        };
        let top = searcher.search(&*query, &TopDocs::with_limit(k).order_by_score())?;
        let nanos = start.elapsed().as_nanos();
        write!(out, "{nanos}")?;
        for (score, address) in top {
            write!(out, " {}:{}", numbers.get_val(address.doc_id), score)?;
        }
        writeln!(out)?;
        out.flush()?;
    }
    Ok(())
}
