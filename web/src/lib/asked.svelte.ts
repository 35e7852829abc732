import { onDestroy } from 'svelte'
import { get, isAbort, Latest, said, type Params } from './api'

/** Asked has the answer to the newest of several requests. Create it when a component is initialised. */
export class Asked<T> {
  found = $state.raw<T>()
  error = $state('')
  busy = $state(false)
  #latest = new Latest()
  #last?: [string, Params]

  constructor() { onDestroy(() => this.#latest.stop()) }

  async ask(path: string, params: Params) {
    this.#last = [path, params]
    this.error = ''
    this.busy = true
    try {
      this.found = await get<T>(path, params, this.#latest.start())
    } catch (e) {
      if (isAbort(e)) return
      this.found = undefined
      this.error = said(e)
    }
    this.busy = false
  }

  again() { if (this.#last) this.ask(...this.#last) }
}
