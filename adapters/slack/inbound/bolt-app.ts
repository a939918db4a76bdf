import type { Receiver } from '@slack/bolt'
// The package's index brings Express with it, for receivers that are not ours: 5 MB that nobody needs.
import bolt from '@slack/bolt/dist/App.js'
import { type Fields, isFields } from '../../shared/fields.ts'
import { wordOf } from '../../shared/reading.ts'
import { quietLogger } from '../connection/quiet-logger.ts'
import { isPress } from './read-press.ts'
import { isSlashCommand } from './read-slash-command.ts'

/** The calls that the event receiver makes for both receivers. */
export interface BoltAppDeps {
  /** Resolves after the commit. Rejects when it could not be stored. */
  accept(body: Fields): Promise<void>
  /** Counts what is no event. */
  unknown(kind: string): void
}

export interface EnvelopeAttempt {
  readonly body: unknown
  readonly retryNum?: number
  readonly retryReason?: string
}

/** Resolves when the attempt may be acknowledged; rejects with what `accept` rejected with. */
export type Take = (attempt: EnvelopeAttempt) => Promise<void>

/** Marks what comes from `accept`, whatever Bolt wraps around it. */
class NotStored extends Error {
  override readonly name = 'NotStored'
}

/**
 * Bolt's App behind a receiver of ours. Bolt acknowledges events before anything has looked at them, so the ack it is
 * given does nothing: the receiver acknowledges, after this resolved. What Bolt is good for here is what comes after
 * events: slash commands, buttons and modals go through the same receiver to its listeners.
 */
export function createBoltApp(receiver: Receiver, ports: BoltAppDeps): Take {
  const app = new bolt.default({
    receiver,
    authorize: () => Promise.resolve({}),
    logger: quietLogger,
    // Both are ours to decide, by ids and by the store.
    ignoreSelf: false,
    convoStore: false,
  })
  app.use(async ({ body }) => {
    const fields: unknown = body
    if (!isFields(fields)) return
    await ports.accept(fields).catch((error: unknown) => {
      throw new NotStored('not stored', { cause: error })
    })
  })
  app.error(async (error) => {
    throw error.original ?? error
  })
  return async ({ body, ...retry }) => {
    const kind = isFields(body) ? kindOf(body) : undefined
    if (!isFields(body) || kind === undefined) {
      ports.unknown(`body:${wordOf(isFields(body) ? body.type : undefined)}`)
      return
    }
    try {
      await app.processEvent({ body, ack: () => Promise.resolve(), ...retry })
    } catch (error) {
      if (error instanceof NotStored) throw error.cause
      // Bolt cannot read it, and will not the next time either.
      ports.unknown(`unreadable:${kind}`)
    }
  }
}

/** Returns a word for what a body is; undefined for one that no listener reads. */
function kindOf(body: Fields): string | undefined {
  if (isFields(body.event)) return wordOf(body.event.type)
  if (isSlashCommand(body)) return 'slash_command'
  return isPress(body) ? 'block_actions' : undefined
}
