import type { ChannelState } from '../../../src/channels/adapter.ts'

const STATE_KEY = 'commands'

/** The names of our commands, kept so that the first messages after a start are read with them too. */
export class CommandNames {
  readonly #state: ChannelState
  #names: ReadonlySet<string> = new Set()

  constructor(state: ChannelState) {
    this.#state = state
  }

  get all(): ReadonlySet<string> {
    return this.#names
  }

  async load(): Promise<void> {
    const stored = await this.#state.get(STATE_KEY)
    if (stored !== undefined) this.#names = new Set(stored.split(' '))
  }

  async learn(names: readonly string[]): Promise<void> {
    this.#names = new Set(names.map((name) => name.toLowerCase()))
    await this.#state.set(STATE_KEY, [...this.#names].join(' '))
  }
}
