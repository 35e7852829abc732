import { get, type Answer, type Facet } from './api'

export type Field = { name: string; type: string; unstored?: boolean }

/** span is the least and the largest value of a number or date field, as numbers; undefined if it has none. */
export async function span(field: Field, signal: AbortSignal, q = `${field.name}:*`): Promise<[number, number] | undefined> {
  const end = async (sort: string) => {
    const { hits } = await get<Answer>('v1/search', { q, k: 1, sort, show: field.name }, signal)
    const value = hits[0]?.fields?.[field.name]
    const one = Array.isArray(value) ? value[0] : value
    return field.type === 'date' ? Date.parse(String(one)) : Number(one)
  }
  const [low, high] = await Promise.all([end(field.name), end(field.name + ':desc')])
  return Number.isFinite(low) && Number.isFinite(high) ? [low, high] : undefined
}

const day = 86_400_000

/** inBars returns the facet that divides a span into about 10 to 40 ranges; 1,000 at most are asked for. */
export function inBars(field: Field, [low, high]: [number, number]): string {
  if (field.type === 'date') {
    const days = (high - low) / day
    return `${field.name}/${days > 3 * 366 ? 'year' : days > 60 ? 'month' : 'day'}:1000`
  }
  const rough = (high - low) / 20
  const power = 10 ** Math.floor(Math.log10(rough || 1))
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough) ?? 1
  return `${field.name}/${Number(step.toPrecision(1))}:1000`
}

export interface Span {
  low: number; high: number
  /** Where values begin and end that have one bar at each end: of a few large ones the other bars would all be empty. */
  below?: number; above?: number
}

/** dense narrows the span of a number field down while most of its values are in one bar. */
export async function dense(field: Field, whole: [number, number], signal: AbortSignal): Promise<Span> {
  let [low, high] = whole
  for (let round = 0; field.type === 'number' && round < 5; round++) {
    const facet = (await get<Answer>('v1/search', { q: `${field.name}:[${low} TO ${high}]`, k: 0, facet: inBars(field, [low, high]) }, signal)).facets?.[0]
    const total = facet?.values.reduce((n, v) => n + v.docs, 0) ?? 0
    const most = facet?.values.reduce((a, b) => (a.docs > b.docs ? a : b), facet.values[0])
    const ends = /^[[{](\S+) TO (\S+)[\]}]$/.exec(most?.value ?? '')
    if (!ends || most!.docs < 0.8 * total) break
    const next = [Math.max(low, Number(ends[1])), Math.min(high, Number(ends[2]))]
    if (!(next[1] - next[0] < high - low && next[1] > next[0])) break
    ;[low, high] = next
  }
  if (low === whole[0] && high === whole[1]) return { low, high }
  const within = await span(field, signal, `${field.name}:[${low} TO ${high}}`)
  return { low: within?.[0] ?? low, high: within?.[1] ?? high, below: low > whole[0] ? low : undefined, above: high < whole[1] ? high : undefined }
}

/** startOf is where a range such as [1990 TO 1995} or the month 2020-05 begins, to put bars in order. */
export function startOf(value: string): number {
  if (value.startsWith('[* ')) return -Infinity
  const from = /^[[{](\S+) TO/.exec(value)?.[1] ?? value
  return /^-?[\d.]+(e[+-]?\d+)?$/i.test(from) && !/^\d{4}$/.test(value) ? Number(from) : Date.parse(from)
}

/** labelOf writes a range for people: 1990 to 1995. */
export function labelOf(value: string): string {
  const ends = /^[[{](\S+) TO (\S+)[\]}]$/.exec(value)
  const end = (s: string) => (Number.isFinite(Number(s)) && Math.abs(Number(s)) >= 10_000 ? Number(s).toLocaleString('en') : s)
  return !ends ? value : ends[2] === '*' ? `${end(ends[1])} or more` : ends[1] === '*' ? `less than ${end(ends[2])}` : `${end(ends[1])} to ${end(ends[2])}`
}

export const sortedBars = (facet: Facet) => [...facet.values].sort((a, b) => startOf(a.value) - startOf(b.value))
