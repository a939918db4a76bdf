import { describe, expect, test } from 'vitest'
import { type AccountState, explainAbsence } from '../../src/channels/explain-absence.ts'

const UP: AccountState = { channel: 'telegram', account: 'default', status: 'up', hints: [], unknown: {} }
const LINK = { channel: 'telegram', messageId: '7', chat: '-1001' } as const
const BARE = { link: null, name: undefined, chatKnown: false, keepsBack: [] }

const reasons = (state: Partial<AccountState>): readonly string[] => explainAbsence([{ ...UP, ...state }], BARE)

describe('explainAbsence', () => {
  test('a channel nobody configured comes alone, with the setting that is missing', () => {
    const link = { channel: 'discord', messageId: '7' } as const
    expect(explainAbsence([UP], { ...BARE, link, name: 'Discord' })).toEqual([
      'No Discord account is configured; add one under channels.discord.',
    ])
  })

  test.each([
    [{ status: 'down', detail: 'the token is refused' }, 'telegram is down: the token is refused'],
    [{ status: 'down', account: 'second' }, 'telegram@second is down'],
    [{ status: 'starting' }, 'telegram is still coming up'],
    [{ hints: ['privacy mode is on'] }, 'telegram: privacy mode is on'],
    [
      { lastTrouble: { detail: 'another instance polls this token', at: 0 } },
      'telegram was in trouble until after 1970-01-01T00:00:00.000Z: another instance polls this token',
    ],
    [
      { unknown: { poll: 2, story: 1 } },
      'telegram received events it does not understand and dropped them: poll (2), story (1).',
    ],
  ] as const)('%j is told', (state, reason) => {
    expect(reasons(state)[0]).toBe(reason)
  })

  test('an account in order gives only what always may be', () => {
    expect(reasons({})).toEqual([expect.stringContaining('while the bot was not in the chat')])
  })

  test('a link asks only its own platform, what that keeps back included', () => {
    const other: AccountState = { ...UP, channel: 'slack', status: 'down' }
    const told = explainAbsence([other, UP], {
      link: LINK,
      name: 'Telegram',
      chatKnown: true,
      keepsBack: ['other bots are not heard'],
    })
    expect(told).toEqual(['other bots are not heard', expect.stringContaining('Otherwise')])
  })

  test('the last reason stands by itself where it is the only one', () => {
    expect(explainAbsence([UP], BARE)).toEqual([expect.stringMatching(/^It was written while/)])
  })

  test('a chat of which nothing was ever stored is named as such', () => {
    const told = explainAbsence([UP], { link: LINK, name: 'Telegram', chatKnown: false, keepsBack: [] })
    expect(told[0]).toContain('the bot may not be a member of it')
  })
})
