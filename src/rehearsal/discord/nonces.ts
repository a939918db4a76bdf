/** "The past few minutes" of the documentation. */
const REMEMBERED_MS = 5 * 60_000

interface Remembered {
  readonly channelId: string
  readonly messageId: string
  readonly at: number
}

/** The nonces that `enforce_nonce` checks: those the bot used lately, in any channel, and the message each made. */
export class NonceBook {
  readonly #now: () => number
  readonly #used = new Map<string, Remembered>()

  constructor(now: () => number) {
    this.#now = now
  }

  find(nonce: string): Omit<Remembered, 'at'> | undefined {
    const used = this.#used.get(nonce)
    return used !== undefined && this.#now() - used.at < REMEMBERED_MS ? used : undefined
  }

  remember(nonce: string, { id, channel_id }: { readonly id: string; readonly channel_id: string }): void {
    this.#used.set(nonce, { channelId: channel_id, messageId: id, at: this.#now() })
  }
}
