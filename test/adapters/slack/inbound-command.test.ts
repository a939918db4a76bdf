import { describe, expect, test } from 'vitest'
import { readSlashCommand } from '../../../adapters/slack/inbound/read-slash-command.ts'
import { toAccountId } from '../../../src/core/ids.ts'

const context = {
  account: toAccountId('default'),
  bot: { userId: 'U0BOT', botId: 'B01', username: 'parley', team: 'T01' },
  commands: new Set(['new', 'mute', 'help']),
  receivedAt: 1_790_000_000_000,
}
const body = {
  command: '/parley',
  text: 'mute 2h',
  trigger_id: '13345224609.738474920.8088930838d88f008e0',
  team_id: 'T01',
  user_id: 'U333',
  user_name: 'ada',
  channel_id: 'C1',
  channel_name: 'workshop',
}

const read = (changes: Readonly<Record<string, unknown>>) => readSlashCommand({ ...body, ...changes }, context)

describe('a slash command', () => {
  test('is answered to its person alone, and keyed by what the platform gives out once', () => {
    expect(read({})).toEqual({
      kind: 'event',
      event: {
        kind: 'command',
        eventKey: 'T01/U0BOT:slash:13345224609.738474920.8088930838d88f008e0',
        address: {
          channel: 'slack',
          account: 'default',
          chatType: 'channel',
          chat: 'C1',
          space: { type: 'team', id: 'T01' },
        },
        sender: { id: 'U333', kind: 'user', team: 'T01', displayName: 'ada' },
        titles: { chat: 'workshop' },
        sentAt: 1_790_000_000_000,
        messageId: '13345224609.738474920.8088930838d88f008e0',
        text: '/parley mute 2h',
        mentioned: true,
        mentionsOthers: false,
        attachments: [],
        name: 'mute',
        args: '2h',
        answerBy: 'ephemeral',
      },
    })
  })

  test.each([
    ['/parley', 'mute 2h', 'mute', '2h'],
    ['/parley', '!New', 'new', ''],
    ['/parley', '', 'help', ''],
    ['/parley', 'dance with me', 'help', ''],
    ['/mute', '2h', 'mute', '2h'],
    ['/NEW', '', 'new', ''],
  ])('%s %s is %s with "%s"', (command, text, name, args) => {
    expect(read({ command, text })).toMatchObject({ event: { name, args } })
  })

  test.each([
    ['directmessage', 'D1', 'direct'],
    ['mpdm-ada--bob-1', 'C1', 'group'],
    ['privategroup', 'C1', 'channel'],
  ])('in %s %s it is in a %s chat', (channel_name, channel_id, chatType) => {
    expect(read({ channel_name, channel_id })).toMatchObject({ event: { address: { chatType } } })
  })

  test('in a channel whose name is the word for a direct chat it is in a channel', () => {
    const address = { chatType: 'channel', chat: 'C1' }
    expect(read({ channel_name: 'directmessage' })).toMatchObject({ event: { address } })
  })

  test('F-H04: of another workspace keeps the team of its person', () => {
    expect(read({ team_id: 'T99' })).toMatchObject({ event: { sender: { team: 'T99' } } })
    expect(read({ team_id: undefined })).not.toHaveProperty('event.sender.team')
  })

  test.each([{ user_id: 5 }, { channel_id: undefined }, { trigger_id: null }, { user_id: 'ada' }])(
    'F-G01: %o is dropped and counted',
    (changes) => {
      expect(read(changes)).toEqual({ kind: 'dropped', why: 'malformed:slash_command' })
    },
  )
})
