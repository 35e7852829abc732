import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Executors;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.store.FSDirectory;

/**
 * A small HTTP server around the index that Peer builds, for bench/serveload: Server DIR PORT answers
 * GET /search?q=WORDS&k=10 with the best documents in JSON. It has no limits and no other path.
 */
public final class Server {
  public static void main(String[] args) throws Exception {
    DirectoryReader reader = DirectoryReader.open(FSDirectory.open(Path.of(args[0])));
    IndexSearcher searcher = new IndexSearcher(reader);
    searcher.setSimilarity(Peer.SIMILARITY);
    searcher.setQueryCache(null);
    if (reader.leaves().size() != 1) throw new IllegalStateException("want one segment");
    LeafReader leaf = reader.leaves().get(0).reader();
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[1])), 1024);
    server.createContext("/search", exchange -> {
      try (exchange) {
        answer(exchange, searcher, leaf);
      }
    });
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.start();
    System.err.println("lucene at http://127.0.0.1:" + args[1]);
  }

  static void answer(HttpExchange exchange, IndexSearcher searcher, LeafReader leaf) throws IOException {
    String q = "";
    int k = 10;
    for (String part : exchange.getRequestURI().getRawQuery().split("&")) {
      String value = URLDecoder.decode(part.substring(part.indexOf('=') + 1), StandardCharsets.UTF_8);
      if (part.startsWith("q=")) q = value;
      if (part.startsWith("k=")) k = Integer.parseInt(value);
    }
    BooleanQuery.Builder words = new BooleanQuery.Builder();
    for (String word : q.toLowerCase(Locale.ROOT).split("[^a-z0-9]+")) {
      words.add(new TermQuery(new Term("text", word)), BooleanClause.Occur.SHOULD);
    }
    ScoreDoc[] hits = searcher.search(words.build(), new TopScoreDocCollectorManager(k, null, k)).scoreDocs;
    StringBuilder json = new StringBuilder("{\"query\":\"").append(q.replace("\\", "\\\\").replace("\"", "\\\""))
        .append("\",\"k\":").append(k).append(",\"hits\":[");
    for (int i = 0; i < hits.length; i++) {
      NumericDocValues numbers = leaf.getNumericDocValues("number"); // they only advance
      numbers.advance(hits[i].doc);
      json.append(i == 0 ? "" : ",").append("{\"rank\":").append(i + 1).append(",\"id\":\"")
          .append(numbers.longValue()).append("\",\"score\":").append(hits[i].score).append('}');
    }
    byte[] body = json.append("]}\n").toString().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }
}
