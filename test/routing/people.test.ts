import { describe, expect, it } from 'vitest'
import type { Identity } from '../../src/core/dispatch.ts'
import { toPersonId } from '../../src/core/ids.ts'
import type { Sender } from '../../src/core/message.ts'
import type { PersonPolicy } from '../../src/core/policy.ts'
import { compileRouting } from '../../src/routing/compile-routing.ts'
import { personBehind } from '../../src/routing/identify.ts'
import { linkConflicts } from '../../src/routing/identity-links.ts'
import { decide, routeOf, verdict } from '../fakes/decide.ts'
import { direct, message, slackChannel, user } from '../fakes/dispatch.ts'
import { household, member, owner, policy, routingOf } from '../fakes/routing-policy.ts'

const GUEST: Identity = { role: 'guest' }
const ADA: Identity = { person: toPersonId('ada'), role: 'owner' }

function telegramIdentity(people: readonly PersonPolicy[], sender: Sender): Identity {
  return decide(policy({ people }), message({ sender })).identity
}

function slackIdentity(people: readonly PersonPolicy[], sender: Sender): Identity {
  return decide(policy({ people }), message({ address: slackChannel(), sender })).identity
}

describe('identity links', () => {
  it('K14: linked ids of one person share a session inside a channel and account', () => {
    const people = [owner('ada', 'telegram:111', 'telegram:112')]
    const keys = ['111', '112', '113'].map((id) => {
      const changes = household({ people, dimensions: ['chat', 'sender'] })
      return routeOf(decide(changes, message({ sender: user(id) }))).scopeKey
    })
    expect(keys[0]).toBe(keys[1])
    expect(keys[0]).not.toBe(keys[2])
  })

  it.each(['telegram:u1', ' Telegram:U1 ', 'U1', ' u1'])('K15: %j names the sender U1', (link) => {
    expect(telegramIdentity([owner('ada', link)], user('U1'))).toEqual(ADA)
  })

  it.each(['discord:u1', 'telegram:u2', 'u', 'telegram'])('K15: %j does not name the sender U1', (link) => {
    expect(telegramIdentity([owner('ada', link)], user('U1'))).toEqual(GUEST)
  })

  it('K15: a bare link matches on every channel and is warned about', () => {
    const people = [owner('ada', '111', 'telegram:112')]
    expect(slackIdentity(people, user('111', { team: 'T01' }))).toEqual(ADA)
    expect(compileRouting(policy({ people })).warnings).toEqual([
      'people.ada.ids[0]: "111" matches on every channel; write <channel>:<id>',
    ])
  })

  it('K15: an id of a channel there is none of is warned about', () => {
    const { warnings } = compileRouting(policy({ people: [owner('ada', 'telegrm:111')] }))
    expect(warnings).toEqual(['people.ada.ids[0]: "telegrm:111" begins with no channel there is; write <channel>:<id>'])
  })

  it('K15: an owner without ids is warned about, as nobody is it and no claim link is given', () => {
    expect(compileRouting(policy({ people: [owner('ada'), member('bob')] })).warnings).toEqual([
      'people.ada: this owner has no ids; write what /whoami says under ids, or run parley people link ada <channel>:<id>',
    ])
  })

  it('K15: an id that looks like a link of another channel is no such link', () => {
    const people = [owner('ada', 'telegram:111')]
    expect(slackIdentity(people, user('telegram:111'))).toEqual(GUEST)
  })

  it.each([
    [['telegram:111'], ['telegram:111']],
    [['111'], ['telegram:111']],
    [['slack:T01/U333'], ['slack:u333']],
    [['slack:T01/U333'], ['t01/u333']],
  ])('K16: %j and %j of two people are refused with both paths', (first, second) => {
    const load = () => compileRouting(policy({ people: [owner('ada', ...first), member('bob', 'cli:1', ...second)] }))
    expect(load).toThrow(
      expect.objectContaining({
        code: 'config',
        message: 'people.bob.ids[1] claims an id that people.ada.ids[0] claims too; give it to one person only',
      }),
    )
  })

  it('K16: one id in two channels, in two teams, or twice for one person is no conflict', () => {
    const people = [
      owner('ada', 'telegram:111', 'slack:T01/U333', 'telegram:111'),
      member('bob', 'discord:111', 'slack:T02/U333'),
    ]
    expect(compileRouting(policy({ people })).warnings).toEqual([])
    expect(slackIdentity(people, user('U333', { team: 'T02' })).person).toBe('bob')
  })

  it('K16: one name given twice is refused', () => {
    expect(() => compileRouting(policy({ people: [owner('ada', 'cli:1'), member('Ada', 'cli:2')] }))).toThrow(
      'people.ada is given twice',
    )
  })

  it.each(['', '  ', 'telegram:', 'telegram: '])('K16: the empty link %j is refused with its path', (link) => {
    expect(() => compileRouting(policy({ people: [owner('ada', link)] }))).toThrow('people.ada.ids[0] is empty')
  })

  it('F-H02: names, nicknames and usernames equal to an owner identify nobody', () => {
    const loud = user('9', { displayName: 'Ada', username: '111' })
    expect(telegramIdentity([owner('ada', 'telegram:111')], loud)).toEqual(GUEST)
    const stranger = message({ address: direct('9'), sender: user('ada', { displayName: 'ada', username: 'ada' }) })
    expect(verdict(decide(policy({ people: [owner('ada', 'telegram:111')] }), stranger))).toBe('refuse/stranger')
  })

  it('F-H04: the same user id from another Slack team is somebody else', () => {
    const people = [owner('ada', 'slack:T01/U333')]
    expect(slackIdentity(people, user('u333', { team: 't01' }))).toEqual(ADA)
    expect(slackIdentity(people, user('U333', { team: 'T02' }))).toEqual(GUEST)
    expect(slackIdentity(people, user('U333'))).toEqual(GUEST)
    expect(slackIdentity(people, user('T01/U333'))).toEqual(GUEST)
  })

  it('F-H04: a Slack link without a team is warned about', () => {
    expect(compileRouting(policy({ people: [owner('ada', 'slack:U333')] })).warnings).toEqual([
      'people.ada.ids[0]: "slack:U333" matches in every workspace; write slack:<team>/<id>',
    ])
  })

  it.each(['anonymous', 'bot'] as const)('an %s sender has no person whatever the lists say', (kind) => {
    const sender = user('111', { kind })
    const origin = kind === 'bot' ? 'api' : 'platform'
    const people = [owner('ada', 'telegram:111')]
    const facts = { personOf: () => ADA }
    expect(decide(policy({ people }), message({ sender }), { facts, dispatch: { origin } }).identity).toEqual(GUEST)
  })

  it.each(['1087968824', '777000', ' 136817688'])('the shared Telegram id %s identifies nobody', (id) => {
    const people = [owner('ada', `telegram:${id.trim()}`)]
    expect(telegramIdentity(people, user(id))).toEqual(GUEST)
    expect(compileRouting(policy({ people })).warnings[0]).toContain('is shared by many people on Telegram')
  })

  it('a bare link to a shared id is warned about twice, the same id elsewhere is not', () => {
    expect(compileRouting(policy({ people: [owner('ada', '777000')] })).warnings).toHaveLength(2)
    expect(compileRouting(policy({ people: [owner('ada', 'discord:777000')] })).warnings).toEqual([])
  })

  it('a sender without an id is nobody', () => {
    expect(telegramIdentity([owner('ada', 'telegram:111')], user('  '))).toEqual(GUEST)
  })
})

describe('people the store knows', () => {
  const personOf = (identity: Identity | undefined) => ({ facts: { personOf: () => identity } })
  const carol: Identity = { person: toPersonId('carol'), role: 'owner' }

  it('a claimed owner is an owner', () => {
    expect(decide(policy(), message(), personOf(carol)).identity).toEqual(carol)
  })

  it('is asked with the id and team as they came', () => {
    const asked: unknown[] = []
    const facts = {
      personOf: (...args: unknown[]) => {
        asked.push(args)
        return undefined
      },
    }
    decide(policy(), message({ address: slackChannel(), sender: user('U9', { team: 'T9' }) }), { facts })
    expect(asked).toEqual([['slack', 'U9', 'T9']])
  })

  it('the configured person of an id wins over the stored one', () => {
    const people = [member('bob', 'telegram:111')]
    expect(decide(policy({ people }), message(), personOf(carol)).identity).toEqual({ person: 'bob', role: 'member' })
  })

  it('the configured role of a person wins over the stored one', () => {
    const people = [member('carol', 'discord:5')]
    expect(decide(policy({ people }), message(), personOf(carol)).identity).toEqual({ person: 'carol', role: 'member' })
  })

  it('a role without a person counts for nothing', () => {
    expect(decide(policy(), message(), personOf({ role: 'owner' })).identity).toEqual(GUEST)
  })
})

describe('an id in writing', () => {
  const { people } = routingOf(policy({ people: [owner('ada', 'telegram:111', 'slack:T01/U3')] }))
  const carol: Identity = { person: toPersonId('carol'), role: 'member' }
  const behind = (id: string, stored?: Identity) => personBehind(people, { personOf: () => stored }, id)

  it('F-H04: is who the configuration says, else who the store says, team included', () => {
    expect(behind('telegram:111', carol)).toEqual({ person: 'ada', role: 'owner' })
    expect(behind('slack:t01/u3')).toEqual({ person: 'ada', role: 'owner' })
    expect(behind('slack:t02/u3')).toEqual({ role: 'guest' })
    expect(behind('discord:5', carol)).toEqual(carol)
  })

  it('is nobody without a channel, and where many share it', () => {
    expect([behind('111', carol), behind('telegram:777000', carol)]).toEqual([{ role: 'guest' }, { role: 'guest' }])
  })

  it('K16: what the store gives to another than the configuration is named, and the configuration wins', () => {
    const stored = [
      { id: toPersonId('ada'), ids: ['telegram:111', 'discord:5'] },
      { id: toPersonId('bob'), ids: ['slack:t01/u3', 'nonsense'] },
    ]
    expect(linkConflicts(people, stored)).toEqual([
      'people.ada.ids[1]: slack:t01/u3 is linked to bob too; the configuration wins until "parley people unlink slack:t01/u3"',
    ])
  })
})
