import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/core/address.ts'
import type { Decision } from '../../src/core/dispatch.ts'
import { toAccountId } from '../../src/core/ids.ts'
import type { InboundEvent, Sender } from '../../src/core/message.ts'
import type { DispatchRule, GroupRule, PersonPolicy, RoutingPolicy, SendRule } from '../../src/core/policy.ts'
import { DIMENSIONS } from '../../src/core/session.ts'
import { compareAccess } from '../../src/routing/compare-access.ts'
import { compileRouting } from '../../src/routing/compile-routing.ts'
import { decideRoute } from '../../src/routing/decide-route.ts'
import { TRAITS } from '../fakes/channels.ts'
import { command, direct, dispatchOf, edit, group, message, routeFacts, user } from '../fakes/dispatch.ts'
import { agents, member, owner, policy } from '../fakes/routing-policy.ts'
import { runs } from '../sample.ts'

/** Absent fields are left out, as the schema does. */
const record = <T extends Record<string, unknown>>(shape: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) =>
  fc.record(shape).map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))
const maybe = <T>(...values: T[]) => fc.constantFrom<T | undefined>(undefined, ...values)
const list = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 3 })

/** A platform more, whose ids differ in case alone. */
const traits: RoutingPolicy['traits'] = {
  ...TRAITS,
  relay: {
    name: 'Relay',
    topics: 'threads',
    ids: { caseSensitive: true, ofTeams: false, shared: [], directChatIsPerson: false, examples: [] },
    variables: [],
  },
}

const place = {
  channel: maybe('telegram', 'slack', 'relay'),
  account: maybe('default', 'second'),
  chat: maybe('a', 'A', 'group:a', 'b', '1'),
  topic: maybe('7', '8'),
  space: maybe('t1', 'team:t1'),
}
/** In any order: another order is another key. */
const dimensions = fc.shuffledSubarray([...DIMENSIONS])
const edits = fc.constantFrom('ignore', 'update', 'rerun')
const wakeWords = fc.subarray(['parley', 'butler'])

/** Often for every place, so that most policies admit somebody. */
const groupRule = record({
  match: fc.oneof(fc.constant({}), record(place)),
  who: fc.constantFrom('owner', 'allowlist', 'public'),
  trigger: fc.constantFrom('mention', 'always', 'never'),
  ownerAlwaysTriggers: maybe(true, false),
  wakeWords: fc.option(wakeWords, { nil: undefined }),
  followThreads: maybe(true, false),
  edits: fc.option(edits, { nil: undefined }),
  bots: fc.constantFrom('ignore', 'mentioned', 'allow', 'allow'),
  botIds: fc.constantFrom(['telegram:9'], ['9'], ['9', 'slack:9'], []),
}) as unknown as fc.Arbitrary<GroupRule>

const dispatchRule = record({
  match: record({
    ...place,
    sender: maybe('ada', 'bob', 'telegram:2', '2', 'slack:U1', 'slack:t1/u1', 'relay:u', 'U', 'u'),
    mentioned: maybe(true, false),
  }),
  agent: maybe('second', 'nobody'),
  dimensions: fc.option(dimensions, { nil: undefined }),
}) as unknown as fc.Arbitrary<DispatchRule>

const sendRule = record({
  match: record({ ...place, chatType: maybe('direct', 'group'), person: maybe('ada', 'bob', 'telegram:2', '2') }),
  action: maybe('allow', 'deny'),
}) as unknown as fc.Arbitrary<SendRule>

/** Each id goes to one person or nobody, so that no two claim one. */
const people: fc.Arbitrary<readonly PersonPolicy[]> = fc
  .record({
    ids: fc.record({
      'telegram:1': maybe('ada'),
      'telegram:2': maybe('bob', 'cy'),
      'telegram:3': maybe('ada', 'bob', 'cy'),
      'slack:T1/U1': maybe('ada', 'bob'),
      'relay:U': maybe('bob'),
    }),
    bob: fc.constantFrom(owner, member),
    named: fc.subarray(['bob', 'cy']),
  })
  .map(({ ids, bob, named }) => {
    const of = (name: string) => Object.entries(ids).flatMap(([id, holder]) => (holder === name ? [id] : []))
    const listed = (name: string) => named.includes(name) || of(name).length > 0
    return [
      ...(listed('ada') ? [owner('ada', ...of('ada'))] : []),
      ...(listed('bob') ? [bob('bob', ...of('bob'))] : []),
      ...(listed('cy') ? [member('cy', ...of('cy'))] : []),
    ]
  })

const settings = {
  people,
  access: fc.record({
    direct: fc.constantFrom('owner', 'allowlist', 'public'),
    groups: list(groupRule),
  }) as fc.Arbitrary<RoutingPolicy['access']>,
  ownerAlwaysTriggers: fc.boolean(),
  wakeWords,
  edits: edits as fc.Arbitrary<RoutingPolicy['edits']>,
  botBudget: fc.constantFrom(
    { turns: 3, tokens: 900, quietMinutes: 30 },
    { turns: 9, tokens: 900, quietMinutes: 30 },
    { turns: 9, tokens: 99, quietMinutes: 30 },
  ),
  dispatch: list(dispatchRule),
  sendPolicy: fc.record({
    rules: list(sendRule),
    default: fc.constantFrom('allow', 'deny'),
  }) as fc.Arbitrary<RoutingPolicy['sendPolicy']>,
  scope: fc.constantFrom('routed', 'global') as fc.Arbitrary<RoutingPolicy['scope']>,
  dimensions: dimensions as fc.Arbitrary<RoutingPolicy['dimensions']>,
  channelDimensions: fc
    .option(dimensions, { nil: undefined })
    .map((slack) => (slack === undefined ? {} : { slack })) as fc.Arbitrary<RoutingPolicy['channelDimensions']>,
  direct: fc.constantFrom('chat', 'person', 'main') as fc.Arbitrary<RoutingPolicy['direct']>,
}
type Setting = keyof typeof settings
const SETTINGS = Object.keys(settings) as Setting[]

const policies = fc.record(settings).map((all) => policy({ ...all, agents: agents('main', 'second'), traits }))

/** What an operator does to a list in one go: a rule more or less, two swapped, one replaced. */
function editOf<T>(rules: readonly T[], rule: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> {
  return fc.record({ at: fc.nat(3), how: fc.constantFrom('add', 'remove', 'swap', 'replace'), rule }).map((edit) => {
    const next = [...rules]
    const at = Math.min(edit.at, next.length)
    if (edit.how === 'add') next.splice(at, 0, edit.rule)
    if (edit.how === 'remove') next.splice(at, 1)
    if (edit.how === 'replace') next.splice(at, 1, edit.rule)
    if (edit.how === 'swap') next.push(...next.splice(at, 1))
    return next
  })
}

/** The policy with one setting changed. */
function changed(before: RoutingPolicy, setting: Setting): fc.Arbitrary<RoutingPolicy> {
  const { access, dispatch, sendPolicy } = before
  const whole = fc.record({ [setting]: settings[setting] as fc.Arbitrary<unknown> })
  const part: Partial<Record<Setting, fc.Arbitrary<Partial<RoutingPolicy>>>> = {
    access: editOf(access.groups, groupRule).map((groups) => ({ access: { ...access, groups } })),
    dispatch: editOf(dispatch, dispatchRule).map((rules) => ({ dispatch: rules })),
    sendPolicy: editOf(sendPolicy.rules, sendRule).map((rules) => ({ sendPolicy: { ...sendPolicy, rules } })),
  }
  return fc.oneof(part[setting] ?? whole, whole).map((change) => ({ ...before, ...change }) as RoutingPolicy)
}

const T1 = { type: 'team', id: 'T1' }
const PLACES: readonly Address[] = [
  direct('1'),
  direct('2'),
  direct('3'),
  group('a'),
  group('b'),
  group('a', { topic: '7' }),
  group('a', { account: toAccountId('second') }),
  group('a', { channel: 'slack', chatType: 'channel', space: T1 }),
  group('a', { channel: 'slack', chatType: 'channel', space: T1, topic: '7' }),
  group('a', { channel: 'slack', chatType: 'group', space: T1, topic: '8' }),
  direct('D1', { channel: 'slack', space: T1 }),
  group('a', { channel: 'relay' }),
  group('A', { channel: 'relay' }),
]
const SENDERS: Readonly<Record<string, readonly Sender[]>> = {
  telegram: ['1', '2', '3', '4'].map((id) => user(id)),
  slack: [user('U1', { team: 'T1' }), user('U1', { team: 'T2' }), user('U2', { team: 'T1' })],
  relay: [user('U'), user('u')],
}

const PERSON: Readonly<Record<string, string>> = { '1': '1', '2': '2', '3': '3', D1: 'U1' }

const EVENTS: readonly InboundEvent[] = PLACES.flatMap((address) => {
  const all = SENDERS[address.channel] ?? []
  // A direct chat has one person.
  const senders = address.chatType === 'direct' ? all.filter(({ id }) => PERSON[address.chat] === id).slice(0, 1) : all
  const bot: Sender = { id: '9', kind: 'bot' }
  return [
    ...senders.flatMap((sender) => [
      message({ address, sender }),
      message({ address, sender, mentioned: true }),
      message({ address, sender, text: 'parley?' }),
      edit({ address, sender, mentioned: true }),
      command('stop', { address, sender }),
      command('status', { address, sender }),
    ]),
    message({ address, sender: bot }),
    message({ address, sender: bot, mentioned: true }),
  ]
})

/** An owner has let one group and one person in; threads are followed, bots have spent a little. */
const FACTS = routeFacts({
  admission: (key) =>
    /^(telegram:3|telegram:group:b)$/.test(key) ? { state: 'admitted', at: 0, by: 'ada' } : undefined,
  follows: () => true,
  command: (name) => ({ who: name === 'status' ? 'owner' : 'anyone', open: false }),
  botSpending: () => ({ turns: 5, tokens: 500, lastAskedAt: 0 }),
})

function decideAll(of: RoutingPolicy): readonly Decision[] {
  const { routing } = compileRouting(of)
  return EVENTS.map((event) => decideRoute(routing, FACTS, dispatchOf(event)))
}

const DONE: Readonly<Record<Decision['kind'], number>> = {
  refuse: 0,
  ignore: 0,
  context: 1,
  amend: 1,
  run: 2,
  control: 2,
}

/** How the decisions of one policy go beyond those of another; undefined if they do not. */
function beyond(before: RoutingPolicy, after: RoutingPolicy): string | undefined {
  const [was, is] = [decideAll(before), decideAll(after)]
  for (const [index, event] of EVENTS.entries()) {
    const [from, to] = [was[index], is[index]]
    if (!from || !to) continue
    const what = `${event.kind} by ${event.sender.id} in ${JSON.stringify(event.address)}`
    if (DONE[to.kind] > DONE[from.kind]) return `${what}: ${to.kind} (was ${from.kind})`
    if ('route' in from && 'route' in to && from.route.agent !== to.route.agent) return `${what}: another agent`
  }
  return joined(was, is)
}

/** Two messages that were in sessions of their own and share one now. */
function joined(was: readonly Decision[], is: readonly Decision[]): string | undefined {
  const seen = new Map<string, string>()
  for (const [index, to] of is.entries()) {
    const from = was[index]
    if (!from || !('route' in from) || !('route' in to)) continue
    const other = seen.get(to.route.scopeKey)
    if (other !== undefined && other !== from.route.scopeKey) return `${to.route.displayKey} joins sessions`
    seen.set(to.route.scopeKey, from.route.scopeKey)
  }
  return undefined
}

/**
 * Whatever one policy opens beyond another, a line says that something is open. Few changes of some settings open
 * anything, so that all of them can be harmless: they go on until one did open something.
 */
function expectNamed(after: (before: RoutingPolicy) => fc.Arbitrary<RoutingPolicy>): void {
  let found = 0
  const steps = policies.chain((before) => after(before).map((next) => ({ before, next })))
  const property = fc.property(steps, ({ before, next }) => {
    const more = beyond(before, next)
    if (more === undefined) return
    found++
    expect(compareAccess(before, next).wider, more).not.toEqual([])
  })
  for (let rounds = 0; found === 0 && rounds < 100; rounds++) fc.assert(property, runs(200))
  expect(found).toBeGreaterThan(0)
}

describe('what a reload says', () => {
  it.each(SETTINGS)(
    'F-H14: whatever becomes of %s, nothing is admitted, answered, joined or sent more without a line',
    (setting) => expectNamed((before) => changed(before, setting)),
  )

  it('F-H14: nor whatever becomes of several settings at once', () => {
    const several = (before: RoutingPolicy) =>
      fc
        .subarray(SETTINGS, { minLength: 2, maxLength: 3 })
        .chain((settings) =>
          fc.tuple(...settings.map((setting) => changed(before, setting).map((one) => ({ [setting]: one[setting] })))),
        )
        .map((changes) => Object.assign({ ...before }, ...changes) as RoutingPolicy)
    expectNamed(several)
  })

  it('F-H14: a policy that is the same says nothing', () => {
    fc.assert(
      fc.property(policies, (same) => {
        expect(compareAccess(same, structuredClone(same))).toEqual({ wider: [], narrower: [], other: [] })
      }),
    )
  })
})
