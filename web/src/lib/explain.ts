import type { Explanation, Part } from './api'

// Of a query that is more than words, the parts that have no parts themselves.
const leaves = (p: Part): Part[] => (p.parts?.length ? p.parts.flatMap(leaves) : [p])

/** wordsOf lists the words of an explained query, always in the same order, with what each gave. */
export function wordsOf(e: Explanation): { word: string; score: number }[] {
  return e.tree ? leaves(e.tree).map((p) => ({ word: p.query, score: p.score })) : (e.words ?? [])
}
