import type { Status, Value } from './api'

const whole = new Intl.NumberFormat('en')

export function count(n: number): string { return whole.format(n) }

export function micros(us: number): string {
  if (us < 1000) return `${us} µs`
  if (us < 1e6) return `${(us / 1000).toPrecision(3)} ms`
  return `${(us / 1e6).toPrecision(3)} s`
}

export function bytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let i = 0
  while (n >= 1000 && i < units.length - 1) { n /= 1000; i++ }
  return `${i === 0 ? n : n.toPrecision(3)} ${units[i]}`
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86400) return `${(seconds / 3600).toFixed(1)} h`
  return `${(seconds / 86400).toFixed(1)} days`
}

export function short(n: number): string {
  return Math.abs(n) >= 100 ? whole.format(Math.round(n)) : String(Number(n.toPrecision(3)))
}

/** areaOf names the size of a study area, in the square of the unit of distances. */
export function areaOf(area: number, unit: string): string {
  return unit === 'm' && area >= 1e6 ? `${short(area / 1e6)} km²` : short(area) + (unit ? ` ${unit}²` : '')
}

/** testedIn says where kinds were tested, which an article must cite. */
export function testedIn(found: { study_area?: number; bandwidth?: number }, nullModel: string, unit: string): string {
  if (!found.study_area) return ''
  const density = found.bandwidth ? `; bandwidth ${short(found.bandwidth)}${unit && ' ' + unit} of the density that all kinds share`
    : ['inhomogeneous', 'cluster'].includes(nullModel) ? '; uniform density, as far as the kinds tell' : ''
  return `Study area ${areaOf(found.study_area, unit)}${density}.`
}

/** modelName returns the name of a scoring function, as in BM25 (k1=1.2, b=0.75). */
export function modelName(model: string): string {
  const [, name, rest] = model.match(/^([^(]*)(?:\((.*)\))?$/) ?? [, model]
  const title = /^(dirichlet|cosine)$/.test(name!) ? name![0].toUpperCase() + name!.slice(1) : name!.toUpperCase()
  return title + (rest ? ` (${rest})` : '')
}

const algorithms = {
  auto: 'Automatic', exhaustive: 'Exhaustive', taat: 'Term at a time', maxscore: 'MaxScore', wand: 'WAND', bmw: 'Block-Max WAND',
  vbmw: 'Variable Block-Max WAND', bmm: 'Block-Max MaxScore', tiles: 'Tiles',
} as Record<string, string>

/** algorithmName returns the name of an algorithm in papers. */
export function algorithmName(name: string): string { return algorithms[name] ?? name }

export interface Piece { text: string; mark: boolean }

/** pieces splits a snippet at its marks, which are byte offsets in UTF-8. */
export function pieces(text: string, marks: { start: number; end: number }[] | null): Piece[] {
  const bytes = new TextEncoder().encode(text)
  const decoder = new TextDecoder()
  const out: Piece[] = []
  let at = 0
  for (const m of marks ?? []) {
    if (m.start > at) out.push({ text: decoder.decode(bytes.subarray(at, m.start)), mark: false })
    out.push({ text: decoder.decode(bytes.subarray(m.start, m.end)), mark: true })
    at = m.end
  }
  if (at < bytes.length) out.push({ text: decoder.decode(bytes.subarray(at)), mark: false })
  return out
}

/** plainly formats the value of a stored field. */
export function plainly(v: Value): string {
  if (Array.isArray(v)) return v.map(plainly).join(', ')
  return typeof v === 'object' ? `${v.lat}, ${v.lon}` : String(v)
}

/** isStored reports whether values of a field are stored, so that they can be shown. */
export const isStored = (f: { type: string; unstored?: boolean }) => !f.unstored && f.type !== 'vector' && f.type !== 'sparse'

/** documentsOf is the number of documents of an index, without deleted ones that are still part of it. */
export const documentsOf = (s: Status) => (s.index?.documents ?? 0) - (s.index?.deleted ?? 0)

const titles = /^(title|name|headline|label|heading|subject)$/i

const bodies = /^(text|body|contents?|abstract|description|plot|comments?|notes?)$/i

/**
 * titleField returns the field that a document is known by: one whose name looks like it, or the first
 * of several texts.
 */
export const titleField = (fields: { name: string; type: string; unstored?: boolean }[]) => {
  const usable = fields.filter((f) => !f.unstored && ['text', 'keyword', 'stored'].includes(f.type) && titles.test(f.name))
  const texts = fields.filter((f) => f.type === 'text')
  const first = texts.length > 1 && !texts[0].unstored && !bodies.test(texts[0].name) ? texts[0] : undefined
  return (usable.find((f) => f.name.toLowerCase() === 'title') ?? usable[0] ?? first)?.name ?? ''
}

/** nameOf returns what a document is known by: its title, or else its ID. */
export const nameOf = (d: { id: string; fields?: Record<string, Value> }, title: string) => {
  const value = title ? d.fields?.[title] : undefined
  const name = value === undefined ? '' : plainly(value).trim()
  return (name.length > 200 ? name.slice(0, 200) + '…' : name) || d.id
}

/** plainWords is what an error of the server says to somebody who reads no parameters. */
export function plainWords(e: string): string {
  return e.replace(/^search: /, '').replace(/^(?:q|filter): query, column (\d+): (.*?)(; set plain .*)?$/s, 'Error in the query at column $1: $2.')
    .replace(/^.*\b(from|start)\b.*want 0 to ([\d,]+).*$/s, (_, __, most) => `Only the first ${count(Number(most.replaceAll(',', '')))} results can be shown here. Narrow the search down.`)
    .replace(/^from [\d,]+: .*more than ([\d,]+) hits.*$/s, (_, most) => `Only the first ${count(Number(most.replaceAll(',', '')))} results can be shown here. Narrow the search down.`)
    .replace(/^.*(context deadline exceeded|the request took too long).*$/s, 'This took longer than the server allows. Narrow the selection down.')
}
