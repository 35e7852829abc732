import { onDestroy } from 'svelte'
import { Failure, follow, get, isAbort, Latest, said, send, type Job, type Params } from './api'

// Questions that may be jobs: they read all texts of the selection, or are about places.
const kinds = /^v1\/(concordance|collocations|keywords|ngrams|wordlist)$|^(v1\/(?:indexes\/[^/]+\/)?)places\/([\w-]+)$/

/** Asked has the answer to the newest of several requests. Create it when a component is initialised. */
export class Asked<T> {
  found = $state.raw<T>()
  error = $state('')
  busy = $state(false)
  /** Whether the answer has not come for a while: it may be cancelled. */
  slow = $state(false)
  /** The job that looks for the answer, if that takes longer than the server lets a request take. */
  job = $state.raw<Job>()
  #latest = new Latest()
  #last?: (signal: AbortSignal) => Promise<T>
  #timer = 0
  #running = '' // the job's ID: effects that ask must not depend on it

  constructor() { onDestroy(() => this.stop()) }

  ask(path: string, params: Params) {
    return this.find(async (signal) => {
      try {
        return await get<T>(path, params, signal)
      } catch (e) {
        const [, ofTexts, before = 'v1/', ofPlaces] = kinds.exec(path) ?? []
        const kind = ofTexts ?? ofPlaces
        if (!kind || !(e instanceof Failure && e.status === 503 && e.message.includes('too long'))) throw e
        this.found = undefined
        return await this.#longer(before + 'jobs', kind, params, signal)
      }
    })
  }

  /** find is ask for what takes more than one request. */
  async find(answer: (signal: AbortSignal) => Promise<T>) {
    this.stop()
    this.#last = answer
    this.error = ''
    this.busy = true
    const signal = this.#latest.start()
    this.#timer = window.setTimeout(() => (this.slow = true), 1000)
    try {
      this.found = await answer(signal)
      this.#settled()
    } catch (e) {
      if (isAbort(e)) return
      this.found = undefined
      this.error = said(e)
      this.#settled()
    }
  }

  /** longer asks as a job. */
  async #longer(at: string, kind: string, params: Params, signal: AbortSignal): Promise<T> {
    const given: Record<string, unknown> = Object.fromEntries(Object.entries(params).filter(([, v]) => v !== undefined && v !== ''))
    if (kind === 'patterns') { // a job mines at several distances
      given.distances = [given.distance]
      delete given.distance
    }
    if (typeof given.sort === 'string') given.sort = given.sort.split(',') // a list, in JSON
    const started: Job = await (await send(at, {
      method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ kind, ...given }),
    })).json()
    this.job = started
    this.#running = started.id
    try {
      await follow(started.id, (now) => { if (this.#running === now.id) this.job = now }, signal)
      const done = await get<Job>('v1/jobs/' + started.id, {}, signal)
      if (done.error) throw new Failure(0, done.error)
      return (done.runs?.[0] ?? done.answer) as unknown as T
    } finally {
      if (this.#running === started.id) this.#end()
    }
  }

  /** stop ends what is being asked, also at the server. */
  stop() {
    this.#latest.stop()
    this.#settled()
    if (this.#running) send('v1/jobs/' + this.#running, { method: 'DELETE' }).catch(() => { /* it ends by itself */ })
    this.#end()
  }

  /** forget is stop, and there is no answer. */
  forget() {
    this.stop()
    this.found = undefined
    this.error = ''
  }

  #settled() {
    clearTimeout(this.#timer)
    this.busy = this.slow = false
  }

  #end() {
    this.#running = ''
    this.job = undefined
  }

  /** cancel is stop, with a way to ask again. */
  cancel() {
    this.stop()
    this.error = 'Cancelled.'
  }

  again() { if (this.#last) this.find(this.#last) }
}
