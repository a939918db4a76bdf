import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/core/address.ts'
import { toAccountId, toPersonId, toScopeKey } from '../../src/core/ids.ts'
import type { InboundMessage } from '../../src/core/message.ts'
import type { SendPolicy, SendRule } from '../../src/core/policy.ts'
import type { SendOverride } from '../../src/core/session.ts'
import { compileRouting } from '../../src/routing/compile-routing.ts'
import { type SendVerdict, sendAllowed } from '../../src/routing/send-policy.ts'
import { decide, decidingStep, routeOf, verdict } from '../fakes/decide.ts'
import { command, edit, group, message, routeFacts, slackChannel, user } from '../fakes/dispatch.ts'
import { household, routingOf } from '../fakes/routing-policy.ts'

interface Question {
  readonly address?: Address
  readonly displayKey?: string
  readonly person?: string
  readonly override?: SendOverride
}

function ask(sendPolicy: SendPolicy, question: Question = {}): SendVerdict {
  const { address = group('-100'), displayKey = 'telegram:group:-100', person, override } = question
  const facts = routeFacts({ sendOverride: () => override })
  return sendAllowed(routingOf(household({ sendPolicy })), facts, {
    address,
    scopeKey: toScopeKey('sk_v1_x'),
    displayKey,
    person: person === undefined ? undefined : toPersonId(person),
  })
}

const deny = (match: SendRule['match']): SendRule => ({ match, action: 'deny' })
const allow = (match: SendRule['match']): SendRule => ({ match, action: 'allow' })
const rules = (...list: SendRule[]): SendPolicy => ({ rules: list, default: 'allow' })

describe('send policy', () => {
  it('T23: a deny rule for a channel and chat type blocks those sessions and no others', () => {
    const policy = rules(deny({ channel: 'slack', chatType: 'channel' }))
    const places = [slackChannel(), slackChannel('D1', { chatType: 'direct' }), group('-1', { chatType: 'channel' })]
    expect(places.map((address) => ask(policy, { address }).allowed)).toEqual([false, true, true])
  })

  const place = slackChannel('C1', { topic: '17.5', account: toAccountId('work') })
  const session: Question = { address: place, displayKey: 'Slack@work:channel:c1/17.5', person: 'Ada' }

  it.each<[SendRule['match'], boolean]>([
    [{}, true],
    [{ channel: ' SLACK ' }, true],
    [{ channel: 'telegram' }, false],
    [{ account: 'Work' }, true],
    [{ account: 'default' }, false],
    [{ space: 'team:t01' }, true],
    [{ space: 't02' }, false],
    [{ chat: 'c1' }, true],
    [{ chat: 'direct:c1' }, false],
    [{ topic: '17.5' }, true],
    [{ topic: '1' }, false],
    [{ person: ' ADA' }, true],
    [{ person: 'bob' }, false],
    [{ person: 'ada', chat: 'c1' }, true],
    [{ keyPrefix: ' slack@WORK:' }, true],
    [{ keyPrefix: 'cron:' }, false],
    [{ chatType: ' Channel' as 'channel' }, true],
    [{ channel: 'slack', chatType: 'group' }, false],
  ])('T23: deny where %o: denied %s', (match, denied) => {
    expect(ask(rules(deny(match)), session).allowed).toBe(!denied)
  })

  it('T23: a rule for a person is not about sessions without one', () => {
    expect(ask(rules(deny({ person: 'ada' }))).allowed).toBe(true)
  })

  it('T24: a matching deny beats a matching allow in any order', () => {
    const [no, yes] = [deny({ channel: 'telegram' }), allow({ chat: '-100' })]
    expect(ask(rules(no, yes))).toEqual({
      allowed: false,
      because: 'rule 1 denies',
      config: 'session.sendPolicy.rules[0]',
    })
    expect(ask(rules(yes, no))).toEqual({
      allowed: false,
      because: 'rule 2 denies',
      config: 'session.sendPolicy.rules[1]',
    })
  })

  it('T24: a matching allow beats the default, and a rule without an action allows', () => {
    expect(ask({ rules: [allow({ chat: '-100' })], default: 'deny' }).allowed).toBe(true)
    expect(ask({ rules: [{ match: { chat: '-100' } }], default: 'deny' })).toEqual({
      allowed: true,
      because: 'rule 1 allows',
      config: 'session.sendPolicy.rules[0]',
    })
  })

  it('T25: without a matching rule the default decides', () => {
    expect(ask({ rules: [deny({ chat: '-7' })], default: 'allow' }).allowed).toBe(true)
    expect(ask({ rules: [allow({ chat: '-7' })], default: 'deny' })).toEqual({
      allowed: false,
      because: 'default: deny',
      config: 'session.sendPolicy.default',
    })
  })

  it('T26: the session override beats all rules, and inherit leaves them', () => {
    const denied = rules(deny({}))
    expect(ask(denied, { override: 'allow' })).toEqual({ allowed: true, because: "the session's override: allow" })
    expect(ask(rules(allow({})), { override: 'deny' }).allowed).toBe(false)
    expect(ask(denied).allowed).toBe(false)
  })

  it('T26: the override of the session the message belongs to is asked for', () => {
    const asked: string[] = []
    const sendOverride = (key: string) => {
      asked.push(key)
      return 'deny' as const
    }
    const decision = decide(household(), message(), { facts: { sendOverride } })
    expect(asked).toEqual([routeOf(decision).scopeKey])
    expect(verdict(decision)).toBe('context/send_policy')
  })

  it('T30: a message to a denied session is stored and runs nothing', () => {
    const policy = household({ sendPolicy: rules(deny({ keyPrefix: 'telegram:group:' })) })
    const decision = decide(policy, message({ mentioned: true }))
    expect(verdict(decision)).toBe('context/send_policy')
    expect(decidingStep(decision)).toEqual({
      stage: 'send-policy',
      verdict: 'stop',
      because: 'rule 1 denies',
      config: 'session.sendPolicy.rules[0]',
    })
    expect(decision.trace.map(({ stage }) => stage).slice(-3)).toEqual(['send-policy', 'dispatch', 'session'])
  })

  it('T30: the person of the sender counts at the entrance', () => {
    const policy = household({ sendPolicy: rules(deny({ person: 'bob' })) })
    const by = (id: string) => verdict(decide(policy, message({ sender: user(id), mentioned: true })))
    expect([by('444'), by('111')]).toEqual(['context/send_policy', 'run/mentioned'])
  })

  it.each([
    ['telegram:111', true],
    [' slack:t01/U333 ', true],
    ['slack:U333', true],
    ['222', true],
    ['telegram:222', false],
    ['slack:T02/U333', false],
    ['444', false],
  ])('K18: a rule that names %s means the person it is linked to: %s, wherever they are', (id, ada) => {
    const policy = household({ sendPolicy: rules(deny({ person: id })) })
    const slack = message({ address: slackChannel(), sender: user('U333', { team: 'T01' }), mentioned: true })
    const heard = [slack, message({ mentioned: true })].map((event) => decide(policy, event).kind)
    expect(heard).toEqual(ada ? ['context', 'context'] : ['run', 'run'])
    expect(ask(policy.sendPolicy, { person: 'ada' }).allowed).toBe(!ada)
  })

  it('K18: an id that is linked in the store alone, or to nobody, is found as well', () => {
    const policy = household({ sendPolicy: rules(deny({ person: 'telegram:555' })) })
    const personOf = (_channel: string, id: string) =>
      ['555', 'U5'].includes(id) ? { person: toPersonId('dora'), role: 'member' as const } : undefined
    const dora = message({ address: slackChannel(), sender: user('U5', { team: 'T01' }), mentioned: true })
    const by = (event: InboundMessage, facts = {}) => decide(policy, event, { facts }).kind
    expect([by(dora, { personOf }), by(dora)]).toEqual(['context', 'run'])
    expect(by(message({ sender: user('555'), mentioned: true }))).toBe('context')
    expect(by(message({ sender: user('556'), mentioned: true }), { personOf })).toBe('run')
    const target = { address: group('-9'), scopeKey: toScopeKey('sk_v1_x'), displayKey: 'telegram:group:-9' }
    const exit = (person: string) =>
      sendAllowed(routingOf(policy), routeFacts({ personOf }), { ...target, person: toPersonId(person) }).allowed
    expect([exit('dora'), exit('bob')]).toEqual([false, true])
  })

  it("K18: nobody is meant by a rule for a configured person by having that person's name as id", () => {
    const policy = household({ sendPolicy: rules(deny({ person: 'ada' })) })
    expect(decide(policy, message({ sender: user('ada'), mentioned: true })).kind).toBe('run')
  })

  it('T27: a command in a denied session is still control', () => {
    const denied = household({ sendPolicy: rules(deny({})) })
    const facts = { command: () => ({ who: 'owner', open: false }) as const }
    expect(verdict(decide(denied, command('send'), { facts }))).toBe('control/command')
  })

  it('an edit in a denied session stays an edit', () => {
    expect(verdict(decide(household({ sendPolicy: rules(deny({})) }), edit()))).toBe('amend/edited')
  })

  it.each(['person', 'keyPrefix', 'chatType', 'channel', 'topic'])('a blank %s is refused with its path', (field) => {
    const load = () => compileRouting(household({ sendPolicy: rules(deny({ [field]: ' ' })) }))
    expect(load).toThrow(`session.sendPolicy.rules[0].match.${field} is empty`)
  })
})
