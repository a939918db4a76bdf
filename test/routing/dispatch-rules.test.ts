import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/core/address.ts'
import { toAccountId } from '../../src/core/ids.ts'
import type { InboundMessage } from '../../src/core/message.ts'
import type { DispatchRule } from '../../src/core/policy.ts'
import { compileRouting } from '../../src/routing/compile-routing.ts'
import { decidedFields } from '../../src/routing/trace.ts'
import { decide, routeOf } from '../fakes/decide.ts'
import { direct, dispatchOf, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { agents, household } from '../fakes/routing-policy.ts'

const AGENTS = agents('main', 'second', 'third')

function agentFor(dispatch: readonly DispatchRule[], event: Partial<InboundMessage> = {}): string {
  return routeOf(decide(household({ dispatch, agents: AGENTS }), message(event))).agent
}

describe('dispatch rules', () => {
  it('K17: the first matching rule chooses the agent, whatever it is found by', () => {
    const rules: DispatchRule[] = [
      { match: { chat: '-999' }, agent: 'second' },
      { match: { sender: 'ada' }, agent: 'third' },
      { match: { chat: '-100' }, agent: 'second' },
    ]
    expect(agentFor(rules)).toBe('third')
    expect(agentFor([...rules].reverse())).toBe('second')
    expect(agentFor([{ match: { mentioned: false }, agent: 'third' }, ...rules])).toBe('third')
  })

  it.each<[string, DispatchRule['match'], Partial<Address>, boolean]>([
    ['channel', { channel: ' Slack' }, {}, true],
    ['channel', { channel: 'telegram' }, {}, false],
    ['account', { account: 'Default' }, {}, true],
    ['account', { account: 'second' }, {}, false],
    ['space', { space: 't01' }, {}, true],
    ['space', { space: 'team:T01' }, {}, true],
    ['space', { space: 'guild:T01' }, {}, false],
    ['space', { space: 'T02' }, {}, false],
    ['chat', { chat: 'c1' }, {}, true],
    ['chat', { chat: 'channel:C1' }, {}, true],
    ['chat', { chat: 'group:C1' }, {}, false],
    ['chat', { chat: 'C2' }, {}, false],
    ['topic', { topic: '17.5' }, {}, true],
    ['topic', { topic: 'topic:17.5' }, {}, true],
    ['topic', { topic: '18' }, {}, false],
    ['mentioned', { mentioned: true }, {}, true],
    ['mentioned', { mentioned: false }, {}, false],
    ['sender', { sender: 'ADA' }, {}, true],
    ['sender', { sender: 'slack:T01/U333' }, {}, true],
    ['sender', { sender: 'slack:T02/U333' }, {}, false],
    ['sender', { sender: 'U333' }, {}, true],
    ['sender', { sender: 'bob' }, {}, false],
  ])('K18: %s restricts a rule: %o', (_field, match, place, matches) => {
    const address = slackChannel('C1', { topic: '17.5', ...place })
    const event = { address, sender: user('U333', { team: 'T01' }), mentioned: true }
    expect(agentFor([{ match, agent: 'second' }], event)).toBe(matches ? 'second' : 'main')
  })

  it('K18: a rule without an account takes any account', () => {
    const rule: DispatchRule = { match: { channel: 'telegram' }, agent: 'second' }
    expect(agentFor([rule], { address: group('-1', { account: toAccountId('work') }) })).toBe('second')
  })

  it('K18: in a direct chat the bot counts as mentioned', () => {
    expect(agentFor([{ match: { mentioned: true }, agent: 'second' }], { address: direct('111') })).toBe('second')
  })

  it('K18: a person known to the store alone is matched by name, and an id by its text', () => {
    const dispatch = [{ match: { sender: 'carol' }, agent: 'second' }]
    const facts = { personOf: () => ({ person: 'carol', role: 'member' }) as never }
    const route = routeOf(decide(household({ dispatch, agents: AGENTS }), message({ sender: user('5') }), { facts }))
    expect(route.agent).toBe('second')
    expect(agentFor(dispatch, { sender: user('carol') })).toBe('second')
  })

  it("K18: nobody matches a rule for a configured person by taking that person's name as an id", () => {
    const rule: DispatchRule = { match: { sender: 'ada' }, agent: 'second' }
    expect(agentFor([rule], { sender: user('ada') })).toBe('main')
  })

  it('K18: a rule for a topic never sees the forum suffix of the chat', () => {
    const address = group('-100', { topic: '42' })
    expect(agentFor([{ match: { chat: '-100' }, agent: 'second' }], { address })).toBe('second')
    expect(agentFor([{ match: { chat: '-100/42' }, agent: 'second' }], { address })).toBe('main')
  })

  it('K19: a rule without constraints never matches', () => {
    expect(agentFor([{ match: {}, agent: 'second' }])).toBe('main')
  })

  it('K19: a rule whose constraint is blank is refused with its path', () => {
    const load = () => compileRouting(household({ dispatch: [{ match: { chat: '  ' } }] }))
    expect(load).toThrow(
      expect.objectContaining({
        code: 'config',
        message: expect.stringMatching(/^routing\.dispatch\[0\]\.match\.chat /),
      }),
    )
  })

  it('K20: rule dimensions replace the channel list for that message only', () => {
    const dispatch: DispatchRule[] = [{ match: { chat: '-100' }, dimensions: ['Sender', 'planet', 'chat', 'sender'] }]
    const scope = (chat: string) => routeOf(decide(household({ dispatch }), message({ address: group(chat) }))).scope
    expect(scope('-100').dimensions).toEqual(['sender', 'chat'])
    expect(scope('-200').dimensions).toEqual(['chat'])
  })

  it('K20: an empty list joins the chats of an account, a list of unknown names changes nothing', () => {
    const scope = (dimensions: string[]) => {
      const dispatch = [{ match: { chat: '-100' }, dimensions }]
      return routeOf(decide(household({ dispatch }), message())).scope.dimensions
    }
    expect(scope([])).toEqual([])
    expect(scope(['planet'])).toEqual(['chat'])
  })

  it('K20: each list that joins chats is told with its path, and what it joins', () => {
    const warnings = (changes: Parameters<typeof household>[0]) =>
      compileRouting(household({ people: [], ...changes })).warnings
    const joined = 'all chats of an account are one session, and read each other there; add chat to keep them apart'
    expect(warnings({ dimensions: [] })).toEqual([`session.dimensions: ${joined}`])
    expect(warnings({ channelDimensions: { slack: [], discord: ['chat'] } })).toEqual([
      `channels.slack.dimensions: ${joined}`,
    ])
    expect(warnings({ dispatch: [{ match: { chat: '-1' } }, { match: { chat: '-2' }, dimensions: [] }] })).toEqual([
      `routing.dispatch[1].dimensions: ${joined}`,
    ])
    expect(warnings({ dimensions: ['space', 'topic'] })[0]).toMatch(
      /^session\.dimensions: several chats are one session/,
    )
    expect(warnings({ dimensions: ['sender'] })[0]).toMatch(/^session\.dimensions: the chats of one sender/)
    expect(warnings({ dimensions: ['chat', 'sender'] })).toEqual([])
  })

  it('K21: an unknown agent falls back to the default and is warned about, the rule still counts', () => {
    const policy = household({
      dispatch: [{ name: 'odd', match: { chat: '-100' }, agent: 'nobody', dimensions: ['planet'] }],
    })
    expect(routeOf(decide(policy, message()))).toMatchObject({ agent: 'main', matchedBy: 'dispatch.rule:odd' })
    expect(compileRouting(policy).warnings).toEqual([
      'routing.dispatch[0].agent: there is no agent "nobody"; the default agent answers',
      'routing.dispatch[0].dimensions: "planet" is none of space, chat, topic, sender',
    ])
  })

  it('K21: the default agent is the first', () => {
    const rules = [{ match: { chat: '-100' }, agent: 'nobody' }]
    const policy = household({ agents: agents('home', 'main'), dispatch: rules })
    expect(routeOf(decide(policy, message())).agent).toBe('home')
  })

  it('K21: without any agent the default is main', () => {
    const bare = household({ agents: [], dispatch: [{ match: { chat: '-1' }, agent: 'x' }] })
    expect(routeOf(decide(bare, message())).agent).toBe('main')
    expect(routeOf(decide(bare, message({ address: group('-1') }))).agent).toBe('main')
  })

  it('K22: so does the log, of what was routed at all', () => {
    const of = (sender: string) => {
      const event = message({ sender: user(sender) })
      return decidedFields(dispatchOf(event), decide(household({ access: { direct: 'owner', groups: [] } }), event))
    }
    const routed = { decision: 'run', reason: 'owner', matchedBy: 'default', agent: 'main' }
    expect(of('111')).toEqual({ traceId: 'tr_1', ...routed, session: 'telegram:group:-100' })
    expect(of('999')).toEqual({ traceId: 'tr_1', decision: 'refuse', reason: 'access' })
  })

  it('K22: the route and the trace say which rule matched', () => {
    const dispatch: DispatchRule[] = [
      { name: ' Media ', match: { chat: '-100' } },
      { name: ' ', match: { chat: '-200' } },
    ]
    const of = (chat: string) => decide(household({ dispatch }), message({ address: group(chat) }))
    expect(['-100', '-200', '-300'].map((chat) => routeOf(of(chat)).matchedBy)).toEqual([
      'dispatch.rule:Media',
      'dispatch.rule',
      'default',
    ])
    expect(of('-100').trace.find(({ stage }) => stage === 'dispatch')).toEqual({
      stage: 'dispatch',
      verdict: 'pass',
      because: 'dispatch.rule:Media: agent main',
      config: 'routing.dispatch[0]',
    })
  })
})
