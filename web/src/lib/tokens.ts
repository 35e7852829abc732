import type { Params, Status } from './api'
import { route } from './route.svelte'

// Weighted tokens, which a model made of a query, rank documents by dot products: alone, or added to
// the scores of words and of meaning. The page has no model itself.

export type SparseField = { name: string; analyzer?: string }

export const sparseFields = (status: Status): SparseField[] =>
  (status.index?.fields ?? []).filter((f) => f.type === 'sparse') as SparseField[]

/** given is the object of tokens and weights that the address has, or ''. */
export const given = () => route.params.tokens ?? ''

/** weight is that of the tokens' sum beside words and meaning. */
export const weight = () => {
  const w = Number(route.params.tweight)
  return w > 0 && w <= 1e6 ? w : 1
}

/**
 * tokensOf reads weighted tokens as people have them: an object of tokens and weights, also as the
 * member vector, toks or query_toks of a line of JSON, pairs of both, or tokens between blanks. The
 * server says which weights it takes.
 */
export function tokensOf(text: string): Record<string, number> {
  const wrong = (what: string) => new Error(`${what}: want tokens and their weights, such as {"solar": 80, "eclipse": 150}.`)
  text = text.trim()
  if (!text) throw wrong('There is no token')
  let value: unknown
  try { value = JSON.parse(text) } catch {
    if (/^[{[]["{[]/.test(text.replace(/\s+/g, ''))) throw wrong('This is no JSON')
    const counts: Record<string, number> = Object.create(null)
    for (const token of text.split(/\s+/)) counts[token] = (counts[token] ?? 0) + 1
    return counts
  }
  if (value && typeof value === 'object' && !Array.isArray(value)) {
    const inside = value as Record<string, unknown>
    for (const name of ['vector', 'query_toks', 'toks']) {
      if (inside[name] && typeof inside[name] === 'object') value = inside[name]
    }
  } else if (!Array.isArray(value)) return { [text]: 1 } // a number is a token, too
  const pairs: unknown[] = Array.isArray(value) ? value : Object.entries(value as object)
  const tokens: Record<string, number> = Object.create(null)
  for (const pair of pairs) {
    const [token, w] = Array.isArray(pair) && pair.length === 2 ? pair : []
    if (typeof token !== 'string') throw wrong('This is no list of pairs')
    if (typeof w !== 'number' || !Number.isFinite(w) || w < 0) throw wrong(`The weight of “${token}” is ${JSON.stringify(w)}, no positive number`)
    if (token in tokens) throw wrong(`“${token}” is there twice`)
    if (w > 0) tokens[token] = w
  }
  if (!Object.keys(tokens).length) throw wrong('No token has a weight')
  return tokens
}

/** withTokens adds the weighted tokens of the address to the parameters of a search. */
export function withTokens(status: Status, p: Params & { q: string }): Params & { q: string } {
  const fields = sparseFields(status)
  if (!given() || !fields.length) return p
  const field = fields.find((f) => f.name === route.params.tfield) ?? fields[0]
  const beside = p.vector_field ? { fusion: 'sum' } : {}
  return { ...p, ...beside, q: p.q === '*' ? '' : p.q, sparse: given(), sparse_field: field.name, sparse_weight: weight() }
}
