import type { AdapterServices, ChannelSink } from '../../../src/channels/adapter.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import type { AccountHealth } from '../../shared/account-health.ts'
import { DeafProbe } from '../../shared/deaf-probe.ts'
import type { Fields } from '../../shared/fields.ts'
import { ReceiptProof } from '../../shared/receipt-proof.ts'
import type { SlackConfig } from '../config.ts'
import { createBoltApp } from '../inbound/bolt-app.ts'
import { CatchUp } from '../inbound/catch-up.ts'
import { CommandNames } from '../inbound/command-names.ts'
import { type Accept, EventReceiver } from '../inbound/event-receiver.ts'
import { type ChatPositions, createPositions } from '../inbound/positions.ts'
import type { OwnBot } from '../inbound/reading.ts'
import { Unreceived } from '../inbound/unreceived.ts'
import type { SlackClient } from './client.ts'
import { askWho } from './greet.ts'
import { HttpReceiver } from './http-receiver.ts'
import { ReceiptGap } from './receipt-gap.ts'
import { type ReceiverPorts, SocketReceiver } from './socket-receiver.ts'
import { TokenWatch } from './token-watch.ts'
import { DEAF } from './trouble.ts'

interface RunDeps {
  readonly account: AccountId
  readonly bot: OwnBot
  readonly config: SlackConfig
  readonly services: AdapterServices
  readonly health: AccountHealth
  readonly client: SlackClient
  readonly sink: ChannelSink
  readonly abort: AbortController
}

/** An account between one `start` and its `stop`. */
export interface AccountRun {
  readonly abort: AbortController
  readonly receiver: SocketReceiver | HttpReceiver
  readonly tokens: TokenWatch
  readonly commands: CommandNames
  /** Returns what an event says, without storing it. */
  read(body: Fields): Promise<InboundEvent | undefined>
  /** Resolves once messages can arrive. @throws ChannelDown */
  start(): Promise<void>
}

export function createRun(deps: RunDeps): AccountRun {
  const { bot, health, client, sink, abort, services } = deps
  const [{ signal }, { clock }] = [abort, services]
  const tokens = new TokenWatch({
    client,
    clock,
    signal,
    onRefused: (detail) => health.trouble('token', detail),
    onGood: () => health.mended('token'),
  })
  const commands = new CommandNames(sink.state)
  const positions = createPositions(sink.state)
  let [greeted, connected] = [false, false]
  const gap = new ReceiptGap(clock)
  const ports: ReceiverPorts = {
    unknown: (kind) => sink.unknown(kind),
    onAlive: () => gap.received(),
    onProof: () => {
      health.proven()
      proof.found()
    },
    onTrouble: (detail) => {
      connected = false
      gap.begins()
      proof.lost()
      health.trouble('connection', detail)
    },
    onConnected: () => {
      // A token that was revoked meanwhile shows only here: its events simply stop.
      if (!proof.seek() && greeted) tokens.check()
      if (!greeted) catchUp.begin()
      greeted = true
      connected = true
    },
  }
  const receiver = createReceiver(deps, ports)
  const proof = new ReceiptProof({
    clock,
    signal,
    ask: (asking) => isAnswered(deps, tokens, asking),
    proven: () => {
      health.mended('connection')
      if (gap.ends() > REPEATED_MS) catchUp.begin()
    },
    unproven: () => receiver instanceof SocketReceiver && receiver.giveUp('unproven'),
  })
  const events = new EventReceiver(deps, { tokens, commands, positions })
  const accept: Accept = events.accept.bind(events)
  const catchUp = new CatchUp({ bot, client, clock, random: () => services.random(), signal, positions, accept, sink })
  const hearing = createHearing(deps, {
    tokens,
    positions,
    looksWell: () => connected && !proof.isSought,
    deaf() {
      gap.wasDeaf()
      if (receiver instanceof SocketReceiver) return receiver.giveUp('deaf')
      health.trouble('hearing', DEAF)
      catchUp.begin()
    },
  })
  receiver.use(createBoltApp(receiver, { accept: hearing.before(accept), unknown: ports.unknown }))
  return {
    abort,
    receiver,
    tokens,
    commands,
    read: events.read.bind(events),
    async start() {
      await Promise.all([commands.load(), positions.load()])
      await receiver.start()
      hearing.begin()
    },
  }
}

/** Shorter interruptions the platform bridges by itself: it repeats what was not acknowledged. */
const REPEATED_MS = 60_000

interface HearingPorts {
  readonly tokens: TokenWatch
  readonly positions: ChatPositions
  looksWell(): boolean
  deaf(): void
}

/** Asks about an account to which nothing comes; called with what came by an event. */
function createHearing({ client, bot, services, abort, health }: RunDeps, ports: HearingPorts) {
  const { tokens, positions, looksWell, deaf } = ports
  const unreceived = new Unreceived({ client, positions, bot })
  const probe = new DeafProbe({
    clock: services.clock,
    signal: abort.signal,
    looksWell,
    async probe(asking) {
      tokens.see(await askWho(client, asking))
      return unreceived.look(asking)
    },
    deaf,
    receives: () => health.mended('hearing'),
  })
  return {
    begin: () => void probe.run(),
    before: (accept: (body: Fields) => Promise<void>) => (body: Fields) => {
      probe.received()
      unreceived.received(body)
      return accept(body)
    },
  }
}

/**
 * Resolves with whether the platform answered; a refusal is an answer too, what is wrong with the token is reported by
 * itself.
 */
async function isAnswered({ client, health }: RunDeps, tokens: TokenWatch, asking: AbortSignal): Promise<boolean> {
  const outcome = await askWho(client, asking)
  if (asking.aborted) return false
  if (outcome.kind === 'answered') health.proven()
  tokens.see(outcome)
  return outcome.kind === 'answered' || (outcome.kind === 'refused' && outcome.stranger === undefined)
}

function createReceiver({ account, config, services }: RunDeps, ports: ReceiverPorts): AccountRun['receiver'] {
  const { mode, appToken = '', signingSecret = '', apiRoot, listen } = config
  const { clock, logger } = services
  if (mode === 'http') return new HttpReceiver({ signingSecret, listen, account, clock, logger }, ports)
  return new SocketReceiver({ appToken, apiRoot, clock, random: () => services.random() }, ports)
}
