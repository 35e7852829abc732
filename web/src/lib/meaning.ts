import type { Params, Status } from './api'
import { route } from './route.svelte'
import { asked, query } from './selection.svelte'
import { withTokens } from './tokens'

// Documents are ranked by words, by the similarity of vectors (meaning), or by both. The vector is that
// of a document of the index, one that the user gives, or what an encoder of the server makes of the
// words: the page has no model itself.

export const rankings = { words: 'words', meaning: 'meaning', both: 'words and meaning' } as Record<string, string>
export const fusions = {
  shares: 'as shares of the best', rrf: 'by ranks (RRF)', sum: 'as they are',
} as Record<string, string>

export type VectorField = { name: string; dim: number }

export const vectorFields = (status: Status): VectorField[] =>
  (status.index?.fields ?? []).filter((f) => f.type === 'vector').map((f) => f as unknown as VectorField)

export const ranking = () => (route.params.rank in rankings ? route.params.rank : 'words')
export const fusion = (status: Status) => (status.shards ? 'sum' : route.params.fusion in fusions ? route.params.fusion : 'shares')

/** share is the weight of meaning beside words, in per cent. */
export const share = () => Math.min(99, Math.max(1, Number(route.params.share) || 50))

/** vectorOf reads a vector as people have it: a JSON array, or numbers with commas or blanks between them. */
export function vectorOf(text: string, dim: number): number[] {
  let list: unknown
  try { list = JSON.parse(text) } catch { list = text.trim().split(/[\s,;]+/).map(Number) }
  if (Array.isArray(list) && list.length === 1 && Array.isArray(list[0])) list = list[0]
  if (!Array.isArray(list) || !list.every((x) => typeof x === 'number' && Number.isFinite(x))) {
    throw new Error(`This is no vector: want a list of ${dim} numbers, such as [0.12, -0.5, …].`)
  }
  if (list.length !== dim) throw new Error(`This vector has ${list.length} numbers: the documents’ have ${dim}.`)
  if (!list.some((x) => x !== 0)) throw new Error('All numbers of this vector are 0: it points nowhere.')
  return list as number[]
}

/** ranked returns the parameters that find documents by what the user chose. */
export const ranked = (status: Status, without = '') => withTokens(status, byWordsOrMeaning(status, without))

/**
 * byWordsOrMeaning returns the parameters without weighted tokens. Without something to compare
 * with they are those of words.
 */
function byWordsOrMeaning(status: Status, without = ''): Params & { q: string } {
  const { like, vector, vfield } = route.params
  const words = asked(without)
  const fields = vectorFields(status)
  const own = like || vector // or else the server's encoder makes a vector of the words
  if (ranking() === 'words' || !fields.length || !(own || (status.encoder && query()))) return words
  const q = ranking() === 'both' || !own ? query() : ''
  const field = fields.some((f) => f.name === vfield) ? vfield : fields[0].name
  const by = ranking() === 'both' && q ? {
    fusion: status.shards ? undefined : fusion(status), vector_weight: share() / 50, word_weight: (100 - share()) / 50,
  } : {}
  return { ...words, q, vector_field: field, ...(vector ? { vector } : like ? { like } : { encode: ranking() === 'both' ? 'also' : 'only' }), ...by }
}

/** byVector reports whether parameters are those of vectors. */
export const byVector = (p: Params) => p.vector_field !== undefined

/** byTokens reports whether parameters have weighted tokens. */
export const byTokens = (p: Params) => p.sparse !== undefined
