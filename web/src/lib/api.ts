// The server's API, as /v1/openapi.json describes it.

import type { Answer, Coverage, Document, Explanation, FacetCounts, Hit, Part, Snippet, Value } from './answers'

export type { Answer, Coverage, Explanation, Hit, Part, Snippet, Value }
export type Facet = FacetCounts
export type Doc = Document
export interface Field { name: string; type: string; unstored?: boolean }
export interface Stats {
  algorithm: string; words: number; postings: number; blocks: number
  scored: number; decoded: number; skipped: number; entered: number
}
export interface Shard { number?: number; replicas: { url: string; error?: string }[]; p95_micros?: number }
export interface Word { word: string; count: number; rank: number; docs: number }
export interface Neighbour { id: number; word: string; count: number; value: number; score: number }
export interface Link { from: number; to: number; score: number }
export interface Company extends Word { by: string; neighbours: Neighbour[]; links?: Link[] }
export interface Line { document: string; place: number; left: string; match: string; right: string }
export interface Unknown { word: string; similar?: string[] }
export interface Concordance {
  lines: Line[]; total: number; all: boolean; documents: number; unknown?: Unknown[]
}
export interface Dispersion {
  word: string; docs: number; words: number; bars: number[]; count: number; range: number; parts: number
  dp: number; dp_norm: number; d: number
}
export interface Near { similar: { word: string; cosine: number }[] }
export interface Plane { points: { word: string; cosine: number; x: number; y: number }[]; shares: [number, number] }
export interface Keywords {
  query: string; against?: string; notes?: string[]; docs: number; matching: number; words: number; reference_docs: number; reference_words: number; by: string
  keywords: { word: string; f1: number; f2: number; lrc: number; g2: number; log_ratio: number; diff: number }[]
}
export interface Places {
  name: string; flags: string; points: number; geographic: boolean; crs: string; unit: string
  bounds: [number, number, number, number]; features: { name: string; points: number }[]
}
export interface Points { total: number; features: string[]; feature: number[]; x: number[]; y: number[] }
export interface Pattern {
  features: string[]; participation_index: number
  participation: Record<string, { points: number; total: number }>
}
export interface Patterns { distance?: number; patterns: Pattern[]; total: number; engine: string; micros: number }
export interface Instances {
  features: string[]; feature: number[]; row: number[]; x: number[]; y: number[]; instances: number[][]; more: boolean
}
export interface Local { from: string; to: string; rounds: number; total: number; x: number[]; y: number[]; value: Numbers; p_value: Numbers }
export interface Quotient { from: string; to: string; points: number; value?: number }
export interface Summary {
  points: number; crs: string; unit: string; width: number; depth: number; positions: number; duplicates: number
  most_at_one_position: number; nearest_quartiles: number[] | null
  neighbours: { distance: number; mean: number; median: number }[] | null
  distance_low: number; distance_high: number; distance_suggested: number; warnings: string[]
}
export type Numbers = (number | null)[]
export interface Curve {
  a: string; b: string; unit: string; null: string; rounds: number; distance: number[]
  l: Numbers; l_expected?: Numbers; l_low?: Numbers; l_high?: Numbers; pair_correlation: Numbers
  participation_index: Numbers; index_expected?: Numbers; index_low?: Numbers; index_high?: Numbers
  p_value?: number; at: number; attract: boolean
}
export interface Job {
  id: string; state: string; done: number; total: number; stage?: string; error?: string; runs?: Patterns[]
}
export interface Status {
  version: string; go: string; os: string; arch: string; uptime_seconds: number; ready: boolean; generation: number
  name: string; engine: string; threads: number; cores: number; model: string
  index?: { // none if the server has no index
    analyzer: string; documents: number; terms: number; postings: number; tokens: number
    mean_length: number; stored_text: boolean; bytes: number; bytes_per_posting: number; fields?: Field[]
  }
  indexes: { name: string; documents: number }[]
  matrix?: { name: string; words: number; entries: number; counts: boolean }
  vectors?: { name: string; words: number; dimensions: number }
  points?: Places
  device?: { free_bytes: number; total_bytes: number }
  shards?: Shard[] // if the server is a root
  limits: { k: number; words: number; queries: number; millis: number }
  latency: { seconds: number; searches: number; p50_micros: number; p90_micros: number; p99_micros: number }
  running: number; waiting: number; heap_bytes: number
}

/** Failure is an error that the server explained. */
export class Failure extends Error {
  constructor(readonly status: number, message: string) { super(message) }
}

const tokenKey = 'collocate-token'
let askForToken: () => void = () => {}

/** onToken sets the function that is called when the server requires a token. */
export function onToken(ask: () => void) { askForToken = ask }
export function setToken(token: string) { sessionStorage.setItem(tokenKey, token) }

export type Params = Record<string, string | number | boolean | string[] | undefined>

export function query(params: Params): string {
  const q = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === '' || value === false) continue
    if (Array.isArray(value)) value.forEach((v) => q.append(name, v))
    else q.set(name, value === true ? '1' : String(value))
  }
  return q.toString()
}

let chosen = ''

/** choose sets the index that requests are about; '' is the first one of the server. */
export function choose(index: string) { chosen = index }

// Requests about an index; the others are the same for all.
const ofIndex = /^v1\/(?=(search|documents|words|concordance|keywords|status)\b)/

/**
 * send sends a request. If the server is busy, it says when to try again: a request is sent up to four
 * times, unless it is cancelled.
 */
export async function send(path: string, init: RequestInit = {}, tries = 4): Promise<Response> {
  const headers = new Headers(init.headers)
  const token = sessionStorage.getItem(tokenKey)
  if (token) headers.set('Authorization', 'Bearer ' + token)
  let response: Response
  try {
    if (chosen) path = path.replace(ofIndex, `v1/indexes/${encodeURIComponent(chosen)}/`)
    response = await fetch(path, { ...init, headers })
  } catch (e) {
    if (isAbort(e)) throw e
    throw new Failure(0, 'The server does not respond. Check that it is running.')
  }
  if (response.ok) return response
  if (response.status === 429 && tries > 1) {
    await new Promise((go) => setTimeout(go, 1000 * (Number(response.headers.get('Retry-After')) || 1)))
    init.signal?.throwIfAborted()
    return send(path, init, tries - 1)
  }
  if (response.status === 401) askForToken()
  let message = response.statusText
  try { message = (await response.json()).error ?? message } catch { /* not JSON */ }
  throw new Failure(response.status, message)
}

export async function get<T>(path: string, params: Params = {}, signal?: AbortSignal): Promise<T> {
  const q = query(params)
  return (await send(path + (q ? '?' + q : ''), { signal })).json()
}

/** Latest keeps only the newest of several requests: each cancels the one before. */
export class Latest {
  private controller?: AbortController
  start(): AbortSignal {
    this.controller?.abort()
    this.controller = new AbortController()
    return this.controller.signal
  }
  stop() { this.controller?.abort() }
}

export function isAbort(e: unknown): boolean { return e instanceof DOMException && e.name === 'AbortError' }
export function said(e: unknown): string { return e instanceof Error ? e.message : String(e) }

/** follow reads the events of a job until it ends. */
export async function follow(id: string, tell: (job: Job) => void, signal: AbortSignal): Promise<void> {
  const response = await send(`v1/jobs/${id}/events`, { signal })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const events = (rest + value).split('\n\n')
    rest = events.pop()!
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '))
      if (data) tell(JSON.parse(data.slice(6)))
    }
  }
}
