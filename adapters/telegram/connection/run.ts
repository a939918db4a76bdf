import type { AdapterServices, ChannelSink } from '../../../src/channels/adapter.ts'
import { ParleyError } from '../../../src/core/errors.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import type { AccountHealth } from '../../shared/account-health.ts'
import { isFields } from '../../shared/fields.ts'
import { createGuard } from '../../shared/guard.ts'
import type { TelegramConfig } from '../config.ts'
import { FOREIGN_BUTTON } from '../inbound/chat-events.ts'
import type { Posts, TopicNames } from '../inbound/known-threads.ts'
import { Pieces } from '../inbound/pieces.ts'
import { readUpdate } from '../inbound/read-event.ts'
import { readableByOthers } from '../inbound/reading.ts'
import type { Presses } from '../outbound/presses.ts'
import type { TelegramClient } from './client.ts'
import type { BotProfile } from './greet.ts'
import { keepPolling } from './keep-polling.ts'
import { receiveByWebhook, TOO_LONG } from './webhook.ts'

export interface RunDeps {
  readonly account: AccountId
  readonly profile: BotProfile
  readonly config: TelegramConfig
  readonly services: AdapterServices
  readonly health: AccountHealth
  /** Returns a client on connections of its own, for the polls. */
  openClient(): TelegramClient
  readonly presses: Presses
  /** Asks beside the polls. */
  readonly client: TelegramClient
  readonly sink: ChannelSink
  readonly topics: TopicNames
  readonly posts: Posts
  readonly abort: AbortController
}

/** One way in which updates come. */
export interface Receiving {
  /** Resolves once messages can arrive. @throws ChannelDown */
  start(): Promise<void>
  /** Resolves when nothing is received any more, with what was under way; at once where nothing has begun. */
  ended(): Promise<void>
}

/** An account between one `start` and its `stop`. */
export interface AccountRun extends Receiving {
  readonly abort: AbortController
  readonly sink: ChannelSink
}

export function createRun(deps: RunDeps): AccountRun {
  const { abort, sink, config } = deps
  const receive = config.mode === 'webhook' ? receiveByWebhook : receiveByPolling
  return { abort, sink, ...receive(deps, receiverOf(deps)) }
}

function receiveByPolling(deps: RunDeps, accept: (update: unknown) => Promise<void>): Receiving {
  const { abort, services, health, client, openClient, sink, account } = deps
  let polling = Promise.resolve()
  /** Resolves once the first poll is out. */
  const start = () =>
    new Promise<void>((listening) => {
      const ports = {
        openClient,
        askClient: client,
        clock: services.clock,
        random: () => services.random(),
        accept,
        onListening: listening,
        onProof: () => {
          health.proven()
          health.mended('connection')
        },
        onSkipped: (update: number) => {
          services.logger.warn('An update is larger than is read of one, and is left out.', { account, update })
          sink.unknown(TOO_LONG)
        },
        onTrouble: (detail: string) => health.trouble('connection', detail),
        onDeaf: (detail: string) => health.trouble('hearing', detail),
        onHearing: () => health.mended('hearing'),
        onHeld: (holds: boolean) => pace(deps, holds),
      }
      polling = keepPolling(ports, abort.signal)
    })
  return { start, ended: () => polling }
}

/**
 * Returns the function that receives one update; it rejects when the update could not be stored, which is then not
 * confirmed.
 */
function receiverOf({
  abort,
  sink,
  services,
  account,
  profile,
  presses,
  topics,
  posts,
}: RunDeps): (update: unknown) => Promise<void> {
  const { clock, logger } = services
  const { bot } = profile
  const guard = createGuard({ sink, logger, account })
  const pieces = new Pieces()
  const acceptEvent = (event: InboundEvent, shown: unknown): Promise<void> => {
    // Before the commit, after which the answer may come at any time.
    if (event.kind === 'command' && event.answerBy !== undefined) presses.received(event.answerBy, abort.signal)
    const accepted = (): Promise<void> => sink.accept(event, undefined, shown)
    return posts.isStored ? accepted() : posts.write().then(accepted)
  }
  return (update) => {
    if (abort.signal.aborted) return Promise.reject(new ParleyError('aborted', 'the channel was stopped'))
    const receivedAt = clock.now()
    let accept: () => Promise<void> = () => topics.write()
    // Only what is read is guarded: what could not be stored is not confirmed, and comes again.
    guard('update', () => {
      topics.note(update)
      posts.note(update)
      const reading = readUpdate(update, { account, bot, topics, posts, receivedAt })
      const shown = readableByOthers(update)
      const event = reading.kind === 'event' ? pieces.mark(reading.event, update) : undefined
      if (event !== undefined) accept = () => acceptEvent(event, shown)
      if (reading.kind === 'dropped') sink.unknown(reading.why, shown)
      if (reading.kind === 'dropped' && reading.why === FOREIGN_BUTTON) presses.refuse(pressIn(update), abort.signal)
    })
    return accept()
  }
}

/** Returns the id of the press in an update that has one. */
function pressIn(update: unknown): string {
  const press = isFields(update) ? update.callback_query : undefined
  return isFields(press) ? String(press.id) : ''
}

/** Says once that the server holds no poll, and takes it back when it does. */
function pace({ account, config, profile, services, health }: RunDeps, holds: boolean): void {
  const { identity, hints } = profile
  const hint = unheldHint(config.apiRoot)
  if (!holds) services.logger.warn('Polls are not held.', { account, hint })
  health.know(identity, holds ? hints : [...hints, hint])
}

function unheldHint(apiRoot: string | undefined): string {
  const where = apiRoot === undefined ? 'the Bot API server' : `the server at ${new URL(apiRoot).host}`
  return `${where} answers polls at once instead of holding them, so it is asked once a second: use one that heeds "timeout"`
}
