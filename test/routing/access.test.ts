import { describe, expect, it } from 'vitest'
import type { NamedSession } from '../../src/core/dispatch.ts'
import { toAgentId, toPersonId } from '../../src/core/ids.ts'
import type { InboundEvent } from '../../src/core/message.ts'
import type { Audience, GroupRule } from '../../src/core/policy.ts'
import { mainKey } from '../../src/routing/session-key.ts'
import { decide, decidingStep, routeOf, verdict } from '../fakes/decide.ts'
import { command, direct, edit, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { household, owner, policy } from '../fakes/routing-policy.ts'

const ADA = '111'
const BOB = '444'
const STRANGER = '999'

function inDirect(audience: Audience, sender: string): string {
  const changes = { access: { direct: audience, groups: [] } }
  return verdict(decide(household(changes), message({ address: direct(sender), sender: user(sender) })))
}

function inGroup(groups: readonly GroupRule[], sender: string): string {
  const event = message({ sender: user(sender), mentioned: true })
  return verdict(decide(household({ access: { direct: 'owner', groups } }), event))
}

const rule = (who: Audience, match: GroupRule['match'] = {}): GroupRule => ({ match, who, trigger: 'mention' })

describe('access to direct chats', () => {
  it.each<[Audience, string, string, string]>([
    ['owner', 'run/direct', 'refuse/access', 'refuse/stranger'],
    ['allowlist', 'run/direct', 'run/direct', 'refuse/stranger'],
    ['public', 'run/direct', 'run/direct', 'run/direct'],
  ])('%s: owner %s, member %s, stranger %s', (audience, ofAda, ofBob, ofStranger) => {
    expect([ADA, BOB, STRANGER].map((id) => inDirect(audience, id))).toEqual([ofAda, ofBob, ofStranger])
  })

  const nobody = { facts: { ownerKnown: false } }
  const hello = message({ address: direct(STRANGER), sender: user(STRANGER) })

  it('while nobody owns the agent a stranger is told so', () => {
    const decision = decide(policy(), hello, nobody)
    expect(verdict(decision)).toBe('refuse/no_owner_yet')
    expect(decidingStep(decision)).toMatchObject({ stage: 'access', config: 'people' })
  })

  it('while nobody owns the agent a public one answers', () => {
    expect(verdict(decide(policy({ access: { direct: 'public', groups: [] } }), hello, nobody))).toBe('run/direct')
  })

  it('while nobody owns the agent a member is not told how to claim it', () => {
    const facts = { ...nobody.facts, personOf: () => ({ person: toPersonId('bob'), role: 'member' as const }) }
    expect(verdict(decide(policy(), hello, { facts }))).toBe('refuse/access')
  })

  it('an owner named in the configuration counts without any claim', () => {
    expect(verdict(decide(policy({ people: [owner('ada', 'telegram:111')] }), hello, nobody))).toBe('refuse/stranger')
  })

  it('a guest with a stored name is not on the allowlist', () => {
    const facts = { personOf: () => ({ person: toPersonId('g1'), role: 'guest' as const }) }
    expect(verdict(decide(household(), hello, { facts }))).toBe('refuse/stranger')
  })

  it('the trace names the setting that decided', () => {
    expect(decidingStep(decide(policy(), hello))).toEqual({
      stage: 'access',
      verdict: 'stop',
      because: 'direct chats are for owners only, not for a stranger',
      config: 'routing.access.direct',
    })
    const bob = message({ address: direct(BOB), sender: user(BOB) })
    const step = decide(household(), bob).trace.find(({ stage }) => stage === 'access')
    expect(step).toMatchObject({ because: 'direct: allowlist', config: 'routing.access.direct' })
  })
})

describe('access to groups', () => {
  it('F-H06: without a rule nobody but the owner is admitted', () => {
    expect([ADA, BOB, STRANGER].map((id) => inGroup([], id))).toEqual([
      'run/mentioned',
      'refuse/access',
      'refuse/access',
    ])
  })

  it.each<[Audience, string, string, string]>([
    ['owner', 'run/mentioned', 'refuse/access', 'refuse/access'],
    ['allowlist', 'run/mentioned', 'run/mentioned', 'refuse/access'],
    ['public', 'run/mentioned', 'run/mentioned', 'run/mentioned'],
  ])('who: %s: owner %s, member %s, stranger %s', (who, ofAda, ofBob, ofStranger) => {
    expect([ADA, BOB, STRANGER].map((id) => inGroup([rule(who)], id))).toEqual([ofAda, ofBob, ofStranger])
  })

  it('the first matching rule decides, however it is found', () => {
    const narrow = rule('owner', { chat: 'group:-100' })
    expect(inGroup([narrow, rule('public')], STRANGER)).toBe('refuse/access')
    expect(inGroup([rule('public'), narrow], STRANGER)).toBe('run/mentioned')
    expect(inGroup([rule('public', { chat: '-7' }), narrow], STRANGER)).toBe('refuse/access')
    expect(inGroup([rule('public', { channel: 'telegram' }), narrow], STRANGER)).toBe('run/mentioned')
  })

  it('a group direct message is a group, not a direct chat', () => {
    const open = household({ access: { direct: 'public', groups: [] } })
    expect(verdict(decide(open, message({ sender: user(STRANGER), mentioned: true })))).toBe('refuse/access')
  })

  it('the trace names the rule, or that there is none', () => {
    const step = (groups: readonly GroupRule[]) =>
      decidingStep(decide(household({ access: { direct: 'owner', groups } }), message({ sender: user(BOB) })))
    expect(step([])).toMatchObject({
      because: 'no group rule matches, member bob is not an owner',
      config: 'routing.access.groups',
    })
    expect(step([rule('public', { chat: '-7' }), rule('owner')])).toMatchObject({
      because: 'this place is for owners only, not for the member bob',
      config: 'routing.access.groups[1].who',
    })
  })
})

describe('one gate for every kind of event', () => {
  const { text: _text, mentioned: _mentioned, ...rest } = message()
  const kinds: InboundEvent[] = [
    { ...rest, kind: 'reaction', added: ['👍'], removed: [] },
    { ...rest, kind: 'membership', status: 'joined' },
    { ...rest, kind: 'departure' },
  ]

  it.each(kinds.map((event) => [event.kind, event] as const))(
    '%s: a stranger is refused, an owner ignored',
    (kind, event) => {
      const owned = decide(household(), event)
      expect(verdict(owned)).toBe('ignore/unsupported_event')
      expect(decidingStep(owned)?.because).toBe(`a ${kind} asks for nothing`)
      expect(verdict(decide(policy(), { ...event, sender: user(STRANGER) }))).toBe('refuse/access')
      const inPrivate = { ...event, address: direct(STRANGER), sender: user(STRANGER) }
      expect(verdict(decide(policy(), inPrivate))).toBe('refuse/stranger')
    },
  )

  it('F-C07: that a chat moved is a fact of the platform, whoever did it', () => {
    const moved: InboundEvent = { ...rest, kind: 'migration', to: group('-200'), sender: user(STRANGER) }
    expect(verdict(decide(policy(), moved))).toBe('ignore/chat_moved')
  })

  it('edit: a stranger is refused', () => {
    expect(verdict(decide(policy(), edit({ sender: user(STRANGER) })))).toBe('refuse/access')
  })

  it('a bot in a direct chat is ignored before anything else is looked at', () => {
    const decision = decide(household(), message({ sender: user(ADA, { kind: 'bot' }), address: direct(ADA) }))
    expect(verdict(decision)).toBe('ignore/bot')
    expect(decision.trace).toEqual([{ stage: 'sender', verdict: 'stop', because: 'a bot' }])
  })

  it.each([
    ['message', message({ text: ' \n' })],
    ['edit', edit({ text: '' })],
  ])('%s: without text and attachments there is nothing to answer', (_kind, event) => {
    expect(verdict(decide(household(), event))).toBe('ignore/empty')
  })

  it('an attachment without text is a message', () => {
    const photo = message({ text: '', attachments: [{ ref: 'f1' }] })
    expect(verdict(decide(household(), photo))).toBe('run/owner')
  })
})

describe('other entrances', () => {
  const fromStranger = message({ address: direct('7', { channel: 'api' }), sender: user('7') })

  it.each(['schedule', 'operator'] as const)('%s was admitted at its own door', (origin) => {
    expect(verdict(decide(policy(), fromStranger, { dispatch: { origin } }))).toBe('run/direct')
  })

  it.each(['api', 'tool'] as const)('K23: %s passes the same access rules', (origin) => {
    expect(verdict(decide(policy(), fromStranger, { dispatch: { origin } }))).toBe('refuse/stranger')
  })

  it('the operator has the role of an owner and keeps its person', () => {
    const operator = (event: InboundEvent) => decide(household(), event, { dispatch: { origin: 'operator' } }).identity
    expect(operator(fromStranger)).toEqual({ role: 'owner' })
    expect(operator(message({ sender: user(BOB) }))).toEqual({ person: 'bob', role: 'owner' })
  })

  it('a bot that another entrance speaks for is a guest there, and not ignored', () => {
    const event = message({ address: direct('7'), sender: user(ADA, { kind: 'bot' }) })
    const decision = decide(household(), event, { dispatch: { origin: 'schedule' } })
    expect(decision).toMatchObject({ kind: 'run', reason: 'direct', identity: { role: 'guest' } })
    expect(decision.trace[0]).toEqual({ stage: 'sender', verdict: 'pass', because: 'a bot' })
  })

  it('a schedule has no authority of its own', () => {
    expect(decide(policy(), fromStranger, { dispatch: { origin: 'schedule' } }).identity).toEqual({ role: 'guest' })
  })

  it('K23: a caller key of one of the two explicit forms is used unchanged', () => {
    for (const callerKey of ['sk_v1_abc', 'SK_V1_ABC', 'agent:main:Whatever', 'Agent:x']) {
      const route = routeOf(decide(household(), message(), { dispatch: { origin: 'api', callerKey } }))
      expect(route).toMatchObject({ scopeKey: callerKey, displayKey: callerKey, kind: 'other' })
    }
  })

  it('K23: a session under a key that names an agent belongs to that agent, if there is one', () => {
    const of = household({ agents: [toAgentId('main'), toAgentId('second')] })
    const agentFor = (callerKey: string) =>
      routeOf(decide(of, message(), { dispatch: { origin: 'api', callerKey } })).scope.agent
    expect(['agent:Second:x', 'agent:main:x', 'agent:third:x', 'sk_v1_x'].map(agentFor)).toEqual([
      'second',
      'main',
      'main',
      'main',
    ])
  })

  it('K23: any other key is ignored, and every key that came by a platform', () => {
    const usual = routeOf(decide(household(), message())).scopeKey
    const key = (callerKey: string, origin: 'api' | 'platform') =>
      routeOf(decide(household(), message(), { dispatch: { origin, callerKey } })).scopeKey
    expect([key('main', 'api'), key('x agent:y', 'api'), key('agent:main:x', 'platform')]).toEqual([
      usual,
      usual,
      usual,
    ])
  })

  it('K23: a caller key opens nothing to people without access', () => {
    const dispatch = { origin: 'api' as const, callerKey: 'agent:main:main' }
    expect(verdict(decide(policy(), fromStranger, { dispatch }))).toBe('refuse/stranger')
  })

  it('K46: only an owner or a schedule may name the main session', () => {
    const bob = message({ sender: user(BOB) })
    const key = (event: InboundEvent, origin: 'api' | 'schedule') =>
      routeOf(decide(household(), event, { dispatch: { origin, callerKey: 'Agent:main:main' } })).scopeKey
    expect(key(message(), 'api')).toBe(mainKey(toAgentId('main')))
    expect(key(bob, 'schedule')).toBe(mainKey(toAgentId('main')))
    expect(key(bob, 'api')).not.toBe(mainKey(toAgentId('main')))
  })
})

describe('a caller key that names a session', () => {
  const callerKey = 'agent:main:slack:channel:c001'
  const { agent: agentId, ...known } = routeOf(decide(household(), message({ address: slackChannel('C001') })))
  const named = { ...known, agentId }

  it('K25: the dispatch belongs to that session, whatever its own place', () => {
    const dispatch = { origin: 'api', callerKey, named } as const
    const route = routeOf(decide(household(), message({ address: direct(ADA) }), { dispatch }))
    expect(route).toMatchObject({ scopeKey: known.scopeKey, displayKey: 'slack:channel:c001', chatType: 'channel' })
  })

  it('K25: the send policy of that session holds', () => {
    const sendOverride = (key: string) => (key === known.scopeKey ? ('deny' as const) : undefined)
    const decision = decide(household(), message({ address: direct(ADA) }), {
      dispatch: { origin: 'api', callerKey, named },
      facts: { sendOverride },
    })
    expect(verdict(decision)).toBe('context/send_policy')
  })

  it('K24: a system message goes to the main session by its name, K46: others cannot name it', () => {
    const main = { ...named, kind: 'main', displayKey: 'main', scopeKey: mainKey(toAgentId('main')) } as const
    const route = (event: InboundEvent, origin: 'operator' | 'api', known?: NamedSession) =>
      routeOf(
        decide(household(), event, {
          dispatch: { origin, callerKey: 'agent:main:main', ...(known && { named: known }) },
        }),
      )
    expect(route(message(), 'operator')).toMatchObject({ kind: 'main', displayKey: 'main', scopeKey: main.scopeKey })
    expect(route(message(), 'operator', main)).toMatchObject({ kind: 'main', scopeKey: main.scopeKey })
    expect(route(message({ sender: user(BOB) }), 'api', main).kind).toBe('group')
  })
})

describe('commands', () => {
  const facts = (who: 'anyone' | 'owner', open = false) => ({ facts: { command: () => ({ who, open }) } })

  it('a known command is control, in direct chats and groups', () => {
    expect(decide(household(), command('new'), facts('owner'))).toMatchObject({ kind: 'control', command: 'new' })
    const bob = command('help', { address: direct(BOB), sender: user(BOB) })
    expect(decide(household(), bob, facts('anyone'))).toMatchObject({ kind: 'control', command: 'help' })
  })

  it('T27: an owner command by others is ignored without a word', () => {
    const decision = decide(household(), command('send', { sender: user(BOB) }), facts('owner'))
    expect(verdict(decision)).toBe('ignore/command_for_owner')
    expect(decidingStep(decision)).toMatchObject({ stage: 'command', because: '/send is for the owner' })
  })

  it('T28: plain text beginning with the word is no command', () => {
    expect(verdict(decide(household(), message({ text: 'send off' }), facts('owner')))).toBe('run/owner')
  })

  it('an unknown command is a message that addresses us', () => {
    const decision = decide(household(), command('weather', { sender: user(STRANGER) }))
    expect(decision).toMatchObject({ kind: 'run', reason: 'mentioned', addressed: true })
    expect(decision.trace.find(({ stage }) => stage === 'command')?.because).toBe('/weather is no command of ours')
  })

  it('an open command is for strangers too, in direct chats only', () => {
    const start = command('start', { address: direct(STRANGER), sender: user(STRANGER) })
    expect(verdict(decide(policy(), start, { facts: { ...facts('anyone', true).facts, ownerKnown: false } }))).toBe(
      'control/command',
    )
    expect(verdict(decide(policy(), start, facts('anyone')))).toBe('refuse/stranger')
    expect(verdict(decide(policy(), start, facts('owner', true)))).toBe('refuse/stranger')
    const inPublic = command('start', { sender: user(STRANGER) })
    expect(verdict(decide(policy(), inPublic, facts('anyone', true)))).toBe('refuse/access')
  })

  it('an open command by which strangers ask is refused as their messages are, but for its argument and before an owner', () => {
    const asking = {
      ...facts('anyone', true).facts,
      command: () => ({ who: 'anyone', open: true, asks: true }) as const,
    }
    const start = (args: string) => command('start', { address: direct(STRANGER), sender: user(STRANGER), args })
    const decision = decide(policy(), start(''), { facts: asking })
    expect(verdict(decision)).toBe('refuse/stranger')
    expect(decision).toMatchObject({ asks: { kind: 'person' } })
    expect(verdict(decide(policy(), start('a-code'), { facts: asking }))).toBe('control/command')
    expect(verdict(decide(policy({ people: [] }), start(''), { facts: { ...asking, ownerKnown: false } }))).toBe(
      'control/command',
    )
    expect(verdict(decide(policy({ access: { direct: 'public', groups: [] } }), start(''), { facts: asking }))).toBe(
      'control/command',
    )
  })

  it('a refused stranger cannot command', () => {
    expect(verdict(decide(policy(), command('help', { sender: user(STRANGER) }), facts('anyone')))).toBe(
      'refuse/access',
    )
  })

  it('the trace of a command leaves out send policy and group rule', () => {
    const { trace } = decide(household(), command('new'), facts('owner'))
    expect(trace.map(({ stage }) => stage)).toEqual(['sender', 'identity', 'access', 'command', 'dispatch', 'session'])
  })
})
