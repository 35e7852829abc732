// The server's API, as /v1/openapi.json describes it.

import type { Document, FacetCounts, Job, Patterns, Report } from './answers'

export type * from './answers'
export type Facet = FacetCounts
export type Doc = Document
export type Mined = Patterns & Report // of one distance, as the page asks for it

/** Failure is an error that the server explained. */
export class Failure extends Error {
  constructor(readonly status: number, message: string) { super(message) }
}

const tokenKey = 'collocate-token'
let askForToken: (wrong: boolean) => void = () => {}

/** onToken sets the function that is called when the server requires a token, or another one. */
export function onToken(ask: (wrong: boolean) => void) { askForToken = ask }
export const hasToken = () => sessionStorage.getItem(tokenKey) !== null
export function forgetToken() { sessionStorage.removeItem(tokenKey) }

// A server that does not respond is looked for until it is back. Views then ask again, as they do when
// the network is back.
let looking = 0
function lookForServer() {
  looking ||= window.setInterval(async () => {
    try { await fetch('v1/version') } catch { return }
    clearInterval(looking)
    looking = 0
    dispatchEvent(new Event('online'))
  }, 2000)
}
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
const ofIndex = /^v1\/(?=(search|documents|words|concordance|keywords|collocations|ngrams|wordlist|commit|status)\b|jobs$)/

/** address returns the address of a request about the chosen index. */
export const address = (path: string) => (chosen ? path.replace(ofIndex, `v1/indexes/${encodeURIComponent(chosen)}/`) : path)

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
    response = await fetch(address(path), { ...init, headers })
  } catch (e) {
    if (isAbort(e)) throw e
    lookForServer()
    throw new Failure(0, 'The server does not respond. Check that it is running.')
  }
  if (response.ok) return response
  if (response.status === 429 && tries > 1) {
    await new Promise((go) => setTimeout(go, 1000 * (Number(response.headers.get('Retry-After')) || 1)))
    init.signal?.throwIfAborted()
    return send(path, init, tries - 1)
  }
  if (response.status === 401) askForToken(token !== null)
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
