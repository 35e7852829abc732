import { onDestroy } from 'svelte'
import { Failure, follow, get, isAbort, Latest, said, send, type Job, type Params } from './api'

// Questions that may be jobs: they read all texts of the selection.
const kinds = /^v1\/(concordance|collocations|keywords|ngrams|wordlist)$/

/** Asked has the answer to the newest of several requests. Create it when a component is initialised. */
export class Asked<T> {
  found = $state.raw<T>()
  error = $state('')
  /** The job that looks for the answer, if that takes longer than the server lets a request take. */
  job = $state.raw<Job>()
  #latest = new Latest()
  #last?: [string, Params]
  #running = '' // the job's ID: effects that ask must not depend on it

  constructor() { onDestroy(() => this.stop()) }

  async ask(path: string, params: Params) {
    this.stop()
    this.#last = [path, params]
    this.error = ''
    const signal = this.#latest.start()
    try {
      try {
        this.found = await get<T>(path, params, signal)
      } catch (e) {
        const kind = kinds.exec(path)?.[1]
        if (!kind || !(e instanceof Failure && e.status === 503 && e.message.includes('too long'))) throw e
        this.found = undefined
        this.found = await this.#longer(kind, params, signal)
      }
    } catch (e) {
      if (isAbort(e)) return
      this.found = undefined
      this.error = said(e)
    }
  }

  /** longer asks as a job. */
  async #longer(kind: string, params: Params, signal: AbortSignal): Promise<T> {
    const given = Object.fromEntries(Object.entries(params).filter(([, v]) => v !== undefined && v !== ''))
    if (typeof given.sort === 'string') given.sort = given.sort.split(',') // a list, in JSON
    const started: Job = await (await send('v1/jobs', {
      method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ kind, ...given }),
    })).json()
    this.job = started
    this.#running = started.id
    try {
      await follow(started.id, (now) => { if (this.#running === now.id) this.job = now }, signal)
      const done = await get<Job>('v1/jobs/' + started.id, {}, signal)
      if (done.error) throw new Failure(0, done.error)
      return done.answer as unknown as T
    } finally {
      if (this.#running === started.id) this.#end()
    }
  }

  /** stop ends what is being asked, also at the server. */
  stop() {
    this.#latest.stop()
    if (this.#running) send('v1/jobs/' + this.#running, { method: 'DELETE' }).catch(() => { /* it ends by itself */ })
    this.#end()
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

  again() { if (this.#last) this.ask(...this.#last) }
}
