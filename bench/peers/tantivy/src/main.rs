//! Tantivy as a peer: see ../README.md for the protocol.

use std::fs::{create_dir_all, File};
use std::io::{stdin, stdout, BufRead, BufReader, Write};
use std::time::Instant;

use tantivy::collector::{Count, TopDocs};
use tantivy::columnar::ColumnValues;
use tantivy::query::{BooleanQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions, FAST};
use tantivy::tokenizer::{TextAnalyzer, WhitespaceTokenizer};
use tantivy::{doc, Index, IndexWriter, ReloadPolicy, Searcher, Term};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args[1].as_str() {
        "index" => {
            let game = args.get(5).is_some_and(|a| a == "game");
            index(&args[2], &args[3], args[4].parse()?, game)
        }
        "serve" => serve(&args[2]),
        _ => Err("want index or serve".into()),
    }
}

fn register(index: &Index) {
    index
        .tokenizers()
        .register("blank", TextAnalyzer::builder(WhitespaceTokenizer::default()).build());
}

/// Builds an index, for the game with positions.
fn index(tokens: &str, dir: &str, threads: usize, game: bool) -> Result<()> {
    let start = Instant::now();
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("blank")
        .set_index_option(if game {
            IndexRecordOption::WithFreqsAndPositions
        } else {
            IndexRecordOption::WithFreqs
        });
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
        if let Some(rest) = line.strip_prefix("game ") {
            game(&searcher, text, &numbers, rest, &mut out)?;
            continue;
        }
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

/// Answers "COMMAND SHARE QUERY" of the search benchmark game. Filters are not supported: SHARE is 0.
fn game(
    searcher: &Searcher,
    text: Field,
    numbers: &std::sync::Arc<dyn ColumnValues<u64>>,
    line: &str,
    out: &mut impl Write,
) -> Result<()> {
    let mut parts = line.splitn(3, ' ');
    let (command, share) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    if share != "0" {
        return Err("no filters here".into());
    }
    let start = Instant::now();
    let query = parse(text, parts.next().unwrap_or(""));
    let (mut count, mut top) = (None, Vec::new());
    if command == "COUNT" {
        count = Some(searcher.search(&*query, &Count)?);
    } else {
        let k: usize = command.split('_').nth(1).unwrap_or("").parse()?;
        let best = TopDocs::with_limit(k).order_by_score();
        if command.ends_with("_COUNT") {
            let (hits, n) = searcher.search(&*query, &(best, Count))?;
            (top, count) = (hits, Some(n));
        } else {
            top = searcher.search(&*query, &best)?;
        }
    }
    write!(out, "{}", start.elapsed().as_nanos())?;
    if let Some(n) = count {
        write!(out, " ={n}")?;
    }
    for (score, address) in top {
        write!(out, " {}:{}", numbers.get_val(address.doc_id), score)?;
    }
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Parses words and quoted phrases, each with or without + or - before it.
fn parse(text: Field, mut query: &str) -> Box<dyn Query> {
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    let term = |w: &str| Term::from_field_text(text, w);
    loop {
        query = query.trim_start();
        let Some(first) = query.chars().next() else { break };
        let occur = match first {
            '+' => Occur::Must,
            '-' => Occur::MustNot,
            _ => Occur::Should,
        };
        query = query.trim_start_matches(['+', '-']);
        let (part, rest) = match query.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => query.split_once(' ').unwrap_or((query, "")),
        };
        query = rest;
        let words: Vec<&str> = part.split(' ').collect();
        let clause: Box<dyn Query> = if words.len() > 1 {
            Box::new(PhraseQuery::new(words.into_iter().map(term).collect()))
        } else {
            Box::new(TermQuery::new(term(part), IndexRecordOption::WithFreqs))
        };
        clauses.push((occur, clause));
    }
    if clauses.len() == 1 && clauses[0].0 != Occur::MustNot {
        return clauses.remove(0).1;
    }
    Box::new(BooleanQuery::new(clauses))
}
