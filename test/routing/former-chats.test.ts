import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import type { ChatMove } from '../../src/core/chat-move.ts'
import { movedAddress, movedDispatch } from '../../src/core/chat-move.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { ConfiguredSchedule } from '../../src/core/schedule.ts'
import { formerNames } from '../../src/routing/former-names.ts'
import { movedSession } from '../../src/routing/moved-session.ts'
import { sendAllowed } from '../../src/routing/send-policy.ts'
import { decide, routeOf, verdict } from '../fakes/decide.ts'
import { direct, dispatchOf, group, message, routeFacts, user } from '../fakes/dispatch.ts'
import { agents, household, routingOf } from '../fakes/routing-policy.ts'

const MOVE: ChatMove = { channel: 'telegram', from: '-200', to: '-100200' }
const formerChat = (channel: string, chat: string) =>
  channel === MOVE.channel && chat === MOVE.to ? MOVE.from : undefined
const inNew = { address: group(MOVE.to), mentioned: true, sender: user('999') }

function decided(changes: Partial<RoutingPolicy>, event = inNew) {
  return decide(household(changes), message(event), { facts: { formerChat } })
}

describe('rules that name the former id of a chat', () => {
  const rule = (chat: string, who: 'public' | 'owner') => ({ match: { chat }, who, trigger: 'mention' }) as const

  it('F-C07: a group rule goes on holding, and no other chat gains by it', () => {
    const access = { direct: 'owner', groups: [rule('-200', 'public')] } as const
    expect(verdict(decided({ access }))).toBe('run/mentioned')
    expect(verdict(decided({ access }, { ...inNew, address: group('-300') }))).toBe('refuse/access')
    expect(verdict(decided({ access }, { ...inNew, address: group(MOVE.to, { channel: 'discord' }) }))).toBe(
      'refuse/access',
    )
  })

  it('F-C07: the first rule of the list wins, by whichever id it names the chat', () => {
    const first = (...groups: ReturnType<typeof rule>[]) => verdict(decided({ access: { direct: 'owner', groups } }))
    expect(first(rule('-200', 'owner'), rule(MOVE.to, 'public'))).toBe('refuse/access')
    expect(first(rule(MOVE.to, 'public'), rule('-200', 'owner'))).toBe('run/mentioned')
    expect(first(rule(MOVE.to, 'owner'), rule('-200', 'public'))).toBe('refuse/access')
  })

  it('F-C07: dispatch rules and the send policy too, its key prefixes included', () => {
    const dispatch = [{ match: { chat: 'group:-200' }, agent: 'second' }]
    expect(routeOf(decided({ agents: agents('main', 'second'), dispatch })).agent).toBe('second')
    const deny = (match: object) => ({ sendPolicy: { rules: [{ match, action: 'deny' }], default: 'allow' } }) as const
    expect(verdict(decided(deny({ chat: '-200' })))).toBe('context/send_policy')
    expect(verdict(decided(deny({ keyPrefix: 'telegram:group:-200' })))).toBe('context/send_policy')
    expect(verdict(decided(deny({ keyPrefix: 'telegram:group:-300' })))).toBe('run/mentioned')
    const { scopeKey, displayKey } = routeOf(decided({}))
    const at = { scopeKey, displayKey, address: group(MOVE.to) }
    expect(sendAllowed(routingOf(household(deny({ chat: '-200' }))), routeFacts({ formerChat }), at).allowed).toBe(
      false,
    )
  })

  it('F-C07: each is told, with what to write', () => {
    const routing = household({
      access: { direct: 'owner', groups: [rule('group:-200', 'public'), rule('-1', 'owner')] },
      dispatch: [{ match: { chat: '-200', channel: 'telegram' } }, { match: { chat: '-200', channel: 'slack' } }],
      sendPolicy: { rules: [{ match: { chat: '-200' } }, { match: {} }], default: 'allow' },
    })
    const times = { cron: '@daily', timezone: 'UTC', prompt: '', missed: { kind: 'once' }, overlap: 'skip' } as const
    const old = parseAddress('telegram:group:-200')
    const schedules: ConfiguredSchedule[] = [
      { id: toScheduleId('a'), definition: { ...times, deliverTo: old, digestOf: old } },
      { id: toScheduleId('b'), definition: { ...times, deliverTo: direct('1') } },
    ]
    const write = `: -200 is the former id of the chat; write ${MOVE.to}`
    expect(formerNames({ routing, schedules }, [MOVE])).toEqual([
      `routing.access.groups[0].match.chat${write}`,
      `routing.dispatch[0].match.chat${write}`,
      `session.sendPolicy.rules[0].match.chat${write}`,
      `schedules.a.deliverTo${write}`,
      `schedules.a.digestOf${write}`,
    ])
    expect(formerNames({ routing, schedules }, [])).toEqual([])
  })
})

describe('what moves with a chat', () => {
  it('F-C07: the session gets the keys a message in the new chat leads to', () => {
    for (const dimensions of [['chat'], ['chat', 'sender'], ['space', 'sender']] as const) {
      const rules = household({ dimensions, agents: agents('main', 'second') })
      const at = (address: ReturnType<typeof group>) => routeOf(decide(rules, message({ ...inNew, address })))
      const [old, fresh] = [at(group(MOVE.from)), at(group(MOVE.to))]
      if (dimensions[0] === 'space') expect(old.scopeKey).toBe(fresh.scopeKey)
      else {
        const { scope, scopeKey, displayKey } = fresh
        expect(movedSession(routingOf(rules).sessions, old, MOVE)).toEqual({ scope, scopeKey, displayKey })
      }
    }
  })

  it('F-C07: a topic stays what it is, and another chat too', () => {
    const rules = household()
    const route = (chat: string) => routeOf(decide(rules, message({ ...inNew, address: group(chat, { topic: '7' }) })))
    const moved = (chat: string) => movedSession(routingOf(rules).sessions, route(chat), MOVE).displayKey
    expect([moved('-200'), moved('-2001')]).toEqual(['telegram:group:-100200/7', 'telegram:group:-2001/7'])
  })

  it('F-C07: a scope without a chat keeps its key', () => {
    const rules = household({ dimensions: [] })
    const old = routeOf(decide(rules, message(inNew)))
    expect(movedSession(routingOf(rules).sessions, old, MOVE).scopeKey).toBe(old.scopeKey)
  })

  it('F-C07: addresses and dispatches that are not concerned stay the same objects', () => {
    const [old, other] = [dispatchOf(message({ address: group(MOVE.from) })), dispatchOf(message())]
    expect(movedDispatch(old, MOVE)).toMatchObject({
      event: { address: { chat: MOVE.to } },
      reply: { address: { chat: MOVE.to } },
    })
    expect(movedDispatch(other, MOVE)).toBe(other)
    const elsewhere = group(MOVE.from, { channel: 'discord' })
    expect(movedAddress(elsewhere, MOVE)).toBe(elsewhere)
    const posted = dispatchOf(message(), { reply: { address: group(MOVE.from) } })
    expect(movedDispatch(posted, MOVE).reply.address.chat).toBe(MOVE.to)
  })
})
