import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.facet.FacetResult;
import org.apache.lucene.facet.FacetsCollectorManager;
import org.apache.lucene.facet.FacetsConfig;
import org.apache.lucene.facet.LabelAndValue;
import org.apache.lucene.facet.sortedset.DefaultSortedSetDocValuesReaderState;
import org.apache.lucene.facet.sortedset.SortedSetDocValuesFacetCounts;
import org.apache.lucene.facet.sortedset.SortedSetDocValuesReaderState;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.ConstantScoreScorer;
import org.apache.lucene.search.ConstantScoreWeight;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.ScorerSupplier;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.FixedBitSet;

/** The search benchmark game: its queries and commands, filters, and facets. */
final class Game {
  static final String FACET = "group";
  static final FacetsConfig FACETS = new FacetsConfig();

  static {
    FACETS.setDrillDownTermsIndexing(FACET, FacetsConfig.DrillDownTermsIndexing.NONE);
  }

  private final IndexSearcher searcher;
  private final LeafReader leaf;
  private final Map<Integer, Query> filters = new HashMap<>();
  private SortedSetDocValuesReaderState state;

  Game(IndexSearcher searcher, LeafReader leaf) {
    this.searcher = searcher;
    this.leaf = leaf;
  }

  /** value is the value of a document's field for facets. */
  static String value(long number) {
    return Long.toString(number / 76);
  }

  /** answer executes "game COMMAND SHARE QUERY". */
  String answer(String line) throws Exception {
    String[] parts = line.split(" ", 4);
    String command = parts[1];
    Query filter = filter(Integer.parseInt(parts[2]));
    if (command.equals("FACET") && state == null) {
      state = new DefaultSortedSetDocValuesReaderState(searcher.getIndexReader(), FACETS);
    }
    long start = System.nanoTime();
    Query query = parse(parts[3]);
    if (filter != null) {
      query = new BooleanQuery.Builder().add(query, Occur.MUST).add(filter, Occur.FILTER).build();
    }
    long count = -1;
    ScoreDoc[] hits = new ScoreDoc[0];
    FacetResult facets = null;
    if (command.equals("COUNT")) {
      count = searcher.count(query);
    } else if (command.equals("FACET")) {
      var found =
          FacetsCollectorManager.search(searcher, query, 10, new FacetsCollectorManager());
      facets = new SortedSetDocValuesFacetCounts(state, found.facetsCollector())
          .getTopChildren(10, FACET);
      hits = found.topDocs().scoreDocs;
      count = found.topDocs().totalHits.value();
    } else {
      boolean counts = command.endsWith("_COUNT");
      int k = Integer.parseInt(command.split("_")[1]);
      TopDocs top = searcher.search(
          query, new TopScoreDocCollectorManager(k, null, counts ? Integer.MAX_VALUE : k));
      hits = top.scoreDocs;
      if (counts) count = top.totalHits.value();
    }
    StringBuilder reply = new StringBuilder().append(System.nanoTime() - start);
    if (count >= 0) reply.append(" =").append(count);
    if (facets != null) {
      for (LabelAndValue v : facets.labelValues) {
        reply.append(' ').append(v.label).append(':').append(v.value);
      }
    } else {
      Peer.append(reply, leaf, hits);
    }
    return reply.toString();
  }

  /** parse parses words and quoted phrases, each with or without + or - before it. */
  static Query parse(String text) {
    if (text.equals("*")) return new MatchAllDocsQuery();
    BooleanQuery.Builder builder = new BooleanQuery.Builder();
    List<Query> single = new ArrayList<>();
    for (int i = 0; i < text.length(); ) {
      char c = text.charAt(i);
      if (c == ' ') {
        i++;
        continue;
      }
      Occur occur = Occur.SHOULD;
      if (c == '+' || c == '-') {
        occur = c == '+' ? Occur.MUST : Occur.MUST_NOT;
        i++;
      }
      boolean quoted = text.charAt(i) == '"';
      if (quoted) i++;
      int end = text.indexOf(quoted ? '"' : ' ', i);
      if (end < 0) end = text.length();
      String part = text.substring(i, end);
      i = end + 1;
      Query query;
      if (part.indexOf(' ') >= 0) {
        query = new PhraseQuery("text", part.split(" "));
      } else {
        query = new TermQuery(new Term("text", part));
      }
      builder.add(query, occur);
      single.add(occur == Occur.MUST_NOT ? null : query);
    }
    if (single.size() == 1 && single.get(0) != null) return single.get(0);
    return builder.build();
  }

  /** filter returns the set of documents whose hashed number is below a share, in 100,000ths. */
  private Query filter(int share) throws IOException {
    if (share == 0) return null;
    Query known = filters.get(share);
    if (known != null) return known;
    FixedBitSet set = new FixedBitSet(leaf.maxDoc());
    NumericDocValues numbers = leaf.getNumericDocValues("number");
    for (int doc; (doc = numbers.nextDoc()) != DocIdSetIterator.NO_MORE_DOCS; ) {
      long hash = numbers.longValue() * 2654435761L & 0xffffffffL;
      if (hash * 100000 >>> 32 < share) set.set(doc);
    }
    Query made = new InSet(set, set.cardinality());
    filters.put(share, made);
    return made;
  }

  /** InSet matches the documents of a set. */
  private static final class InSet extends Query {
    private final FixedBitSet set;
    private final int count;

    InSet(FixedBitSet set, int count) {
      this.set = set;
      this.count = count;
    }

    @Override
    public Weight createWeight(IndexSearcher searcher, ScoreMode mode, float boost) {
      return new ConstantScoreWeight(this, boost) {
        @Override
        public ScorerSupplier scorerSupplier(LeafReaderContext context) {
          return new ScorerSupplier() {
            @Override
            public Scorer get(long lead) {
              return new ConstantScoreScorer(score(), mode, new BitSetIterator(set, count));
            }

            @Override
            public long cost() {
              return count;
            }
          };
        }

        @Override
        public boolean isCacheable(LeafReaderContext context) {
          return false;
        }
      };
    }

    @Override
    public void visit(QueryVisitor visitor) {
      visitor.visitLeaf(this);
    }

    @Override
    public String toString(String field) {
      return "set of " + count;
    }

    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(this);
    }
  }
}
