import { describe, expect, it } from 'vitest'
import { toAccountId, toPersonId } from '../../src/core/ids.ts'
import type { InboundMessage } from '../../src/core/message.ts'
import { normalName, sessionAliases } from '../../src/core/session-alias.ts'
import { CHANNELS } from '../fakes/channels.ts'
import { decide, routeOf } from '../fakes/decide.ts'
import { direct, dispatchOf, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { agents, household } from '../fakes/routing-policy.ts'

type Rules = Parameters<typeof household>[0]

function aliasesOf(changes: Partial<InboundMessage>, rules: Rules = {}, dispatch = {}): readonly string[] {
  const event = message(changes)
  const decision = decide(household({ access: { direct: 'public', groups: [] }, ...rules }), event, { dispatch })
  return sessionAliases(CHANNELS, { route: routeOf(decision), event, person: decision.identity.person })
}

describe('aliases', () => {
  const inGroup = { access: { direct: 'owner', groups: [{ match: {}, who: 'public', trigger: 'mention' }] } } as const

  it('K45: a direct chat has three forms for its sender, the sender with the channel, the person and the chat', () => {
    expect(aliasesOf({ address: direct('D7', { channel: 'slack' }), sender: user('U333', { team: 'T01' }) })).toEqual([
      ...['u333', 'slack:u333', 'ada', 'd7'].flatMap((peer) => [
        `agent:main:direct:${peer}`,
        `agent:main:slack:direct:${peer}`,
        `agent:main:slack:default:direct:${peer}`,
      ]),
      'slack:direct:d7',
    ])
  })

  it('K45: an id of another team is not that of the same id here', () => {
    const address = direct('D9', { channel: 'slack', space: { type: 'team', id: 'T01' } })
    const names = aliasesOf({ address, sender: user('U333', { team: 'T02' }) })
    expect(names).toContain('agent:main:slack:direct:t02/u333')
    expect(names.filter((name) => name.endsWith(':u333'))).toEqual([])
    expect(aliasesOf({ address, sender: user('U333', { team: 't01' }) })).toContain('agent:main:slack:direct:u333')
  })

  it.each(['web', 'cli', 'api'] as const)(
    'K45: a name that somebody chose at the door %s is nobody’s elsewhere',
    (channel) => {
      expect(aliasesOf({ address: direct('ada', { channel }), sender: user('') })).toEqual([
        `agent:main:${channel}:direct:ada`,
        `agent:main:${channel}:default:direct:ada`,
        `${channel}:direct:ada`,
      ])
    },
  )

  it('K45: a chat whose sender is not known yet is known by the chat alone', () => {
    expect(aliasesOf({ address: direct('D7', { channel: 'discord' }), sender: user('') })).toEqual([
      'agent:main:direct:d7',
      'agent:main:discord:direct:d7',
      'agent:main:discord:default:direct:d7',
      'discord:direct:d7',
    ])
  })

  it('K45: a group has its place, with the topic where topics are apart', () => {
    expect(aliasesOf({ address: slackChannel('C001') }, inGroup)).toEqual([
      'agent:main:slack:channel:c001',
      'slack:channel:c001',
    ])
    expect(aliasesOf({ address: slackChannel('C001', { topic: '17.5' }) }, inGroup)).toContain(
      'agent:main:slack:channel:c001/17.5',
    )
    expect(aliasesOf({ address: group('-100', { topic: '42' }) }, inGroup)).toContain('telegram:group:-100/42')
    expect(aliasesOf({ address: group('-100', { account: toAccountId('second') }) }, inGroup)).toContain(
      'telegram@second:group:-100',
    )
  })

  it('K45: sessions that share a place, or have none, do not carry its names', () => {
    expect(aliasesOf({}, { ...inGroup, dimensions: ['chat', 'sender'] })).toEqual([])
    expect(aliasesOf({}, { ...inGroup, dimensions: ['sender'] })).toEqual([])
    expect(aliasesOf({}, { ...inGroup, dimensions: [] })).toEqual([])
  })

  it.each(['slack', 'discord'] as const)(
    'K45: a thread of %s that shares the session of its channel has no name of its own',
    (channel) => {
      const joined = { ...inGroup, channelDimensions: { [channel]: ['chat'] } } as const
      const place = `${channel}:channel:c1`
      const names = [`agent:main:${place}`, place]
      expect(aliasesOf({ address: slackChannel('C1', { channel, topic: '17.5' }) }, joined)).toEqual(names)
      expect(aliasesOf({ address: slackChannel('C1', { channel }) }, joined)).toEqual(names)
      expect(aliasesOf({ address: slackChannel('C1', { channel, topic: '17.5' }) }, inGroup)).toEqual(
        names.map((name) => `${name}/17.5`),
      )
    },
  )

  it('K45: a session of one sender has no name of the place, in a thread and a forum topic neither', () => {
    const apart = { ...inGroup, channelDimensions: {}, dimensions: ['chat', 'topic', 'sender'] } as const
    expect(aliasesOf({ address: slackChannel('C1', { topic: '17.5' }) }, apart)).toEqual([])
    expect(aliasesOf({ address: group('-100', { topic: '42' }) }, apart)).toEqual([])
    const rule = { ...inGroup, dispatch: [{ match: { chat: '-100' }, dimensions: ['chat', 'sender'] }] }
    expect(aliasesOf({}, rule)).toEqual([])
  })

  it.each([
    ['for a sender', { sender: 'ada' }],
    ['for an id', { sender: 'telegram:111' }],
    ['for what mentions the agent', { mentioned: false }],
  ])('K45: a rule %s gives its session no name of the place, a rule for the place does', (_what, match) => {
    const rules = (place: object) => ({
      ...inGroup,
      agents: agents('main', 'second'),
      dispatch: [{ match: place, agent: 'second' }],
    })
    expect(aliasesOf({}, rules({ chat: '-100', ...match }))).toEqual([])
    expect(aliasesOf({}, rules({ chat: '-100' }))).toEqual(['agent:second:telegram:group:-100', 'telegram:group:-100'])
    // In a direct chat nobody else speaks.
    expect(aliasesOf({ address: direct('111') }, rules({ sender: 'ada' }))).toContain('telegram:direct:111')
  })

  it('K45: where senders are apart, what the agent posts by itself has no name of the place either', () => {
    expect(aliasesOf({ sender: user('') }, { ...inGroup, dimensions: ['chat', 'sender'] })).toEqual([])
  })

  it('K45: only the main session carries the main alias, and no other', () => {
    expect(aliasesOf({ address: direct('111') }, { direct: 'main' })).toEqual(['agent:main:main'])
    expect(aliasesOf({ address: direct('111') })).not.toContain('agent:main:main')
  })

  it('K46: the one session of a person is known by each of their chats', () => {
    const person = { direct: 'person' } as const
    expect(aliasesOf({ address: direct('111') }, person)).toContain('telegram:direct:111')
    expect(aliasesOf({ address: direct('222', { channel: 'discord' }), sender: user('222') }, person)).toContain(
      'agent:main:discord:direct:discord:222',
    )
  })

  it('K26: a key its caller gave is the only name of its session', () => {
    const callerKey = ' Agent:main:Whatever'
    expect(aliasesOf({ address: direct('111') }, {}, { origin: 'api', callerKey })).toEqual(['agent:main:whatever'])
  })

  it('T4: a schedule is known in any case', () => {
    const event = message()
    const { route } = { route: routeOf(decide(household(), event)) }
    const cron = { ...route, kind: 'cron', displayKey: 'cron:Morning' } as const
    expect(
      sessionAliases(CHANNELS, { route: cron, event: dispatchOf(event).event, person: toPersonId('ada') }),
    ).toEqual(['cron:morning'])
    expect(normalName(' Cron:\u200bMor\u2060ning\ufeff ')).toBe('cron:morning')
  })
})
