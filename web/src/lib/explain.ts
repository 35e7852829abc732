import type { Explanation, Part } from './api'

// Returns the leaves of the tree of a query.
const leaves = (p: Part): Part[] => (p.parts?.length ? p.parts.flatMap(leaves) : [p])

/** wordsOf lists the words of an explained query, always in the same order, with their scores. */
export function wordsOf(e: Explanation): { word: string; score: number }[] {
  return e.tree ? leaves(e.tree).map((p) => ({ word: p.query, score: p.score })) : (e.words ?? [])
}
