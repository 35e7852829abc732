import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.facet.sortedset.SortedSetDocValuesFacetField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;

/** Lucene as a peer: see ../README.md for the protocol. */
public final class Peer {
  static final BM25Similarity SIMILARITY = new BM25Similarity(1.2f, 0.75f);

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "index" -> index(Path.of(args[1]), Path.of(args[2]), Integer.parseInt(args[3]),
          args.length > 4 && args[4].equals("game"));
      case "serve" -> serve(Path.of(args[1]));
      default -> throw new IllegalArgumentException("want index or serve");
    }
  }

  record Line(long number, String text) {}

  /** index builds an index, for the game with positions and a field for facets. */
  static void index(Path tokens, Path dir, int threads, boolean game) throws Exception {
    long start = System.nanoTime();
    IndexWriterConfig config = new IndexWriterConfig(new WhitespaceAnalyzer());
    config.setSimilarity(SIMILARITY);
    config.setRAMBufferSizeMB(512);
    config.setUseCompoundFile(false);
    config.setMergePolicy(new LogDocMergePolicy());
    FieldType type = new FieldType();
    type.setIndexOptions(
        game ? IndexOptions.DOCS_AND_FREQS_AND_POSITIONS : IndexOptions.DOCS_AND_FREQS);
    type.setTokenized(true);
    type.freeze();
    try (FSDirectory directory = FSDirectory.open(dir);
        IndexWriter writer = new IndexWriter(directory, config);
        BufferedReader in = Files.newBufferedReader(tokens, StandardCharsets.ISO_8859_1)) {
      ArrayBlockingQueue<List<Line>> queue = new ArrayBlockingQueue<>(16);
      List<Thread> workers = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        Thread worker = new Thread(() -> {
          try {
            for (List<Line> batch; !(batch = queue.take()).isEmpty(); ) {
              for (Line line : batch) {
                Document doc = new Document();
                doc.add(new Field("text", line.text(), type));
                doc.add(new NumericDocValuesField("number", line.number()));
                if (game) {
                  doc.add(new SortedSetDocValuesFacetField(Game.FACET, Game.value(line.number())));
                  doc = Game.FACETS.build(doc);
                }
                writer.addDocument(doc);
              }
            }
          } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
          }
        });
        worker.start();
        workers.add(worker);
      }
      List<Line> batch = new ArrayList<>();
      long number = 0;
      for (String line; (line = in.readLine()) != null; ) {
        batch.add(new Line(number++, line));
        if (batch.size() == 1000) {
          queue.put(batch);
          batch = new ArrayList<>();
        }
      }
      if (!batch.isEmpty()) queue.put(batch);
      for (int i = 0; i < threads; i++) queue.put(List.of());
      for (Thread worker : workers) worker.join();
      writer.commit();
      double first = (System.nanoTime() - start) / 1e9;
      writer.forceMerge(1);
      writer.commit();
      System.out.printf("{\"seconds\": %.3f, \"seconds_before_merge\": %.3f}%n", (System.nanoTime() - start) / 1e9, first);
    }
  }

  static void serve(Path dir) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.ISO_8859_1));
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.ISO_8859_1);
    try (DirectoryReader reader = DirectoryReader.open(FSDirectory.open(dir))) {
      IndexSearcher searcher = new IndexSearcher(reader);
      searcher.setSimilarity(SIMILARITY);
      searcher.setQueryCache(null);
      if (reader.leaves().size() != 1) throw new IllegalStateException("want one segment");
      LeafReader leaf = reader.leaves().get(0).reader();
      Game game = new Game(searcher, leaf);
      for (String line; (line = in.readLine()) != null; ) {
        if (line.startsWith("game ")) {
          out.println(game.answer(line));
          out.flush();
          continue;
        }
        String[] words = line.split(" ");
        BooleanClause.Occur occur = words[0].equals("and") ? BooleanClause.Occur.MUST : BooleanClause.Occur.SHOULD;
        int k = Integer.parseInt(words[1]);
        long start = System.nanoTime();
        Query query;
        if (words.length == 3) {
          query = new TermQuery(new Term("text", words[2]));
        } else {
          BooleanQuery.Builder builder = new BooleanQuery.Builder();
          for (int i = 2; i < words.length; i++) builder.add(new TermQuery(new Term("text", words[i])), occur);
          query = builder.build();
        }
        TopDocs top = searcher.search(query, new TopScoreDocCollectorManager(k, null, k));
        long nanos = System.nanoTime() - start;
        StringBuilder reply = new StringBuilder().append(nanos);
        append(reply, leaf, top.scoreDocs);
        out.println(reply);
        out.flush();
      }
    }
  }

  /** append writes answers as number:score. */
  static void append(StringBuilder reply, LeafReader leaf, ScoreDoc[] hits) throws Exception {
    // DocValues only advance: read the numbers in docID order.
    Integer[] order = new Integer[hits.length];
    for (int i = 0; i < order.length; i++) order[i] = i;
    java.util.Arrays.sort(order, java.util.Comparator.comparingInt(i -> hits[i].doc));
    long[] numbers = new long[hits.length];
    NumericDocValues values = leaf.getNumericDocValues("number");
    for (int i : order) {
      values.advance(hits[i].doc);
      numbers[i] = values.longValue();
    }
    for (int i = 0; i < hits.length; i++) {
      reply.append(' ').append(numbers[i]).append(':').append(hits[i].score);
    }
  }
}
