import { randomUUID } from 'node:crypto'
import { ApiError, unknownMessage } from './api-error.ts'
import type { DiscordLedger } from './ledger-entries.ts'
import type { WorldState } from './world-state.ts'

/** The time for the first answer to an interaction, and the time for which its token is valid. */
const FIRST_WITHIN_MS = 3000
const TOKEN_LASTS_MS = 15 * 60_000

const unknownInteraction = () => new ApiError(404, 10_062, 'Unknown interaction')
const unknownWebhook = () => new ApiError(404, 10_015, 'Unknown Webhook')
const invalidToken = () => new ApiError(401, 50_027, 'Invalid Webhook Token')
const acknowledgedAlready = () => new ApiError(400, 40_060, 'Interaction has already been acknowledged.')

interface Interaction {
  readonly id: string
  readonly token: string
  readonly userId: string
  readonly channelId: string
  readonly at: number
  acknowledged: boolean
  /** The message in place of the first answer, once there is one; `deleted` after it was deleted. */
  original: { readonly id: string; deleted: boolean } | undefined
}

interface Whispering {
  readonly world: WorldState
  readonly ledger: DiscordLedger
}

/** The interactions that people began by the platform's menu, and the texts that the bot has shown to them alone. */
export class InteractionBook {
  readonly #byToken = new Map<string, Interaction>()
  readonly #parts: Whispering

  constructor(parts: Whispering) {
    this.#parts = parts
  }

  open(userId: string, channelId: string): { readonly id: string; readonly token: string } {
    const { world } = this.#parts
    const token = `rehearsal-${randomUUID()}`
    const interaction = { id: world.ids.next(), token, userId, channelId, at: world.now() }
    this.#byToken.set(token, { ...interaction, acknowledged: false, original: undefined })
    return interaction
  }

  /** Records the one first answer, here always the notice that an answer will follow. */
  acknowledge(id: string, token: string): void {
    const interaction = this.#byToken.get(token)
    if (interaction?.id !== id || this.#age(interaction) > TOKEN_LASTS_MS) throw unknownInteraction()
    if (interaction.acknowledged) throw acknowledgedAlready()
    if (this.#age(interaction) > FIRST_WITHIN_MS) throw unknownInteraction()
    interaction.acknowledged = true
    interaction.original = { id: this.#parts.world.ids.next(), deleted: false }
    this.#record('deferred', interaction, { messageId: interaction.original.id, text: '' })
  }

  /** Replaces the first answer by a text. */
  edit(token: string, text: string): string {
    const interaction = this.#answerable(token)
    const { original } = interaction
    if (original === undefined || original.deleted) throw unknownMessage()
    this.#record('edited', interaction, { messageId: original.id, text })
    return original.id
  }

  remove(token: string): void {
    const interaction = this.#answerable(token)
    const { original } = interaction
    if (original === undefined || original.deleted) throw unknownMessage()
    original.deleted = true
    this.#record('deleted', interaction, { messageId: original.id, text: '' })
  }

  /** Adds a further message. */
  follow(token: string, text: string): string {
    const interaction = this.#answerable(token)
    const messageId = this.#parts.world.ids.next()
    this.#record('sent', interaction, { messageId, text })
    return messageId
  }

  #answerable(token: string): Interaction {
    const interaction = this.#byToken.get(token)
    if (interaction === undefined || !interaction.acknowledged) throw unknownWebhook()
    if (this.#age(interaction) > TOKEN_LASTS_MS) throw invalidToken()
    return interaction
  }

  #age({ at }: Interaction): number {
    return this.#parts.world.now() - at
  }

  #record(
    change: 'deferred' | 'sent' | 'edited' | 'deleted',
    { id, userId, channelId }: Interaction,
    what: { readonly messageId: string; readonly text: string },
  ): void {
    const { ledger, world } = this.#parts
    ledger.append({ kind: 'whisper', at: world.now(), change, interactionId: id, userId, channelId, ...what })
  }
}
