import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { telegramFormat } from '../../../adapters/telegram/format.ts'
import type { Config } from '../../../src/config/config.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { type Deferred, deferred } from '../../../src/core/deferred.ts'
import { createIdSource, toAccountId, toAgentId } from '../../../src/core/ids.ts'
import type { RoutingPolicy } from '../../../src/core/policy.ts'
import type { Session } from '../../../src/core/session.ts'
import type { SendAnswer, SendRequest, SessionCaller, SessionTools } from '../../../src/core/session-tools.ts'
import type { Tool } from '../../../src/core/turn.ts'
import type { RouteFacts } from '../../../src/routing/route-facts.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { FakeChannel } from '../../delivery/fake-channel.ts'
import { direct, dispatchOf, message, user } from '../../fakes/dispatch.ts'
import { type OpenedStages, openStages } from '../../fakes/open-stages.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { agents, household } from '../../fakes/routing-policy.ts'
import { decisionOf, ids } from '../../store/sample-rows.ts'

/** An owner's client: no turn behind it. */
export const CLIENT: SessionCaller = { principal: { role: 'owner' } }
export const never = (): AbortSignal => new AbortController().signal

export interface Rig {
  readonly engine: OpenedStages
  readonly store: Store
  readonly channel: FakeChannel
  readonly tools: SessionTools
  /** Somebody says something in their direct chat; resolves once it is on disk. */
  say(from: string, text: string): Promise<void>
  /** As `say`, and resolves with what the bot answered there. */
  ask(from: string, text: string): Promise<string>
  /** A client's request, with a request id of its own where none is given. */
  send(
    request: Omit<SendRequest, 'requestId'> & { readonly requestId?: string },
    caller?: SessionCaller,
  ): Promise<SendAnswer>
  named(name: string): Promise<Session>
  /** What the tools of a session's turns answered, newest last. */
  results(name: string): Promise<readonly SendAnswer[]>
  /** Resolves when the bot has sent so many messages to a chat. */
  sent(chat: string, count: number): Promise<readonly string[]>
  /** Calls of the tool `hold` wait here until `open` is resolved. */
  readonly hold: { readonly reached: Deferred; readonly open: Deferred }
  /** Lets go of everything, as a crash would, and opens the same store again. */
  reopen(changes?: Partial<RigOptions>): Promise<Rig>
}

export interface RigOptions {
  /** The script of every agent, in the format of `load-script.ts`. */
  readonly script: string
  readonly routing?: Partial<RoutingPolicy>
  readonly config?: Partial<Config>
  readonly facts?: Partial<RouteFacts>
}

/**
 * The stages on a real store with a scripted model, and a platform in memory. Ada (111) owns it, Bob (444) is a member.
 */
export async function openRig(options: RigOptions): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tools-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'script.yaml'), options.script)
  readyDatabase(join(folder, 'parley.db'))
  return openIn(folder, options)
}

async function openIn(folder: string, options: RigOptions): Promise<Rig> {
  const policy = household({ agents: agents('main', 'second'), ...options.routing })
  const store = await openSqliteStore({ path: join(folder, 'parley.db'), clock: systemClock })
  const channel = new FakeChannel(() => systemClock)
  const limits = { perSecond: 1000, perChatPerSecond: 1000, perGroupPerMinute: 60_000 }
  const hold = { reached: deferred(), open: deferred() }
  const idSource = createIdSource({
    now: Date.now,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  })
  const engine = await openStages({
    ...{ store, ids: idSource, channel },
    config: configOf(folder, policy, options.config),
    accounts: {
      all: [{ channel: 'telegram', account: toAccountId(''), name: 'default', settings: { streaming: false, limits } }],
      limits: () => limits,
      streams: () => false,
      format: () => telegramFormat,
    },
    ...(options.facts ? { facts: options.facts } : {}),
    tools: { test: [holding(hold)] },
  })
  let closed = false
  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    hold.open.resolve()
    await engine.running.drain(0)
    await engine.delivery.stop(1_000)
    await store.close()
  }
  onTestFinished(close)
  const tools = engine.sessionTools
  let events = 0
  const say: Rig['say'] = (from, text) =>
    engine.accept(
      dispatchOf(
        message({
          eventKey: `e${++events} ${Date.now()}`,
          text,
          address: direct(from),
          sender: user(from),
          mentioned: true,
        }),
        { receivedAt: Date.now() },
      ),
    )
  const sent: Rig['sent'] = async (chat, count) => {
    const there = (): readonly string[] => channel.visible(`telegram:direct:${chat}`)
    while (there().length < count) await channel.called(channel.calls.length + 1)
    return there()
  }
  return {
    engine,
    store,
    channel,
    tools,
    say,
    async ask(from, text) {
      const before = channel.visible(`telegram:direct:${from}`).length
      await say(from, text)
      return (await sent(from, before + 1)).at(-1) ?? ''
    },
    send: (request, caller = CLIENT) => tools.send({ requestId: crypto.randomUUID(), ...request }, caller, never()),
    async named(name) {
      const session = await store.read.sessions.resolve(name)
      if (!session) throw new Error(`There is no session ${name}.`)
      return session
    },
    async results(sessionKey) {
      const { messages } = await tools.history({ sessionKey, includeTools: true }, CLIENT)
      const results = messages.filter(({ role }) => role === 'toolResult')
      return results.map(({ text }) => JSON.parse(text) as SendAnswer)
    },
    sent,
    hold,
    async reopen(changes) {
      await close()
      return openIn(folder, { ...options, ...changes })
    },
  }
}

function configOf(folder: string, routing: RoutingPolicy, more: Partial<Config> = {}): Config {
  const profile = { model: 'scripted/script.yaml', prompt: '', tools: ['sessions', 'test'] }
  return {
    agents: routing.agents.map((id) => ({ ...profile, id: toAgentId(id) })),
    models: {},
    channels: {},
    down: [],
    schedules: [],
    routing,
    session: { queue: { max: 10, busy: 'queue' } },
    store: { path: join(folder, 'parley.db') },
    logging: { level: 'info', pretty: false },
    scriptFolder: folder,
    dataDir: folder,
    warnings: [],
    ...more,
  }
}

function holding({ reached, open }: Rig['hold']): Tool {
  return {
    class: 'pure',
    reach: 'inside',
    spec: { name: 'hold', description: 'Waits.', parameters: { type: 'object' } },
    async run(_args, { signal }) {
      reached.resolve()
      await Promise.race([open.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
      return 'held'
    },
  }
}

/** Has somebody begin a turn in a session, on record, and returns it as the caller of a tool. */
export async function turnIn(
  { write }: Pick<Store, 'write'>,
  session: Session,
  from = '111',
  as: Pick<ReturnType<typeof decisionOf>, 'public'> = {},
): Promise<SessionCaller> {
  const id = ids.turn()
  const address = direct(from)
  const dispatch = dispatchOf(message({ address, sender: user(from), eventKey: id, mentioned: true }))
  await write(async (tx) => {
    const row = { id: ids.inbox(), dispatch, decision: { ...decisionOf(1), ...as }, sessionId: session.id, turnId: id }
    await tx.inbox.add({ ...row, state: 'claimed' })
    await tx.participants.add(session.id, `telegram:${from}`, 1)
  })
  return { turn: { id, sessionId: session.id, agentId: session.agentId } }
}
