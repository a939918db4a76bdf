import { describe, expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'

const { telegram, discord, slack } = catalogue

describe('links to messages', () => {
  test.each([
    ['https://t.me/c/1234567890/77', { messageId: '77', chat: '-1001234567890' }],
    ['t.me/c/1234567890/42/77', { messageId: '77', chat: '-1001234567890', topic: '42' }],
    [' https://t.me/family_chat/77?single ', { messageId: '77' }],
    ['https://telegram.me/family_chat/42/77/', { messageId: '77', topic: '42' }],
  ])('Telegram: %j', (text, link) => {
    expect(telegram.lookup.readLink(text)).toEqual({ channel: 'telegram', ...link })
  })

  test.each([
    'https://discord.com/channels/100/200/300',
    'https://ptb.discord.com/channels/100/200/300/',
    'https://discordapp.com/channels/@me/200/300',
  ])('Discord: %j', (text) => {
    expect(discord.lookup.readLink(text)).toEqual({ channel: 'discord', messageId: '300' })
  })

  test.each([
    ['https://acme.slack.com/archives/C01/p1700000000000100', { chat: 'C01', messageId: '1700000000.000100' }],
    [
      'https://acme.enterprise.slack.com/archives/C01/p1700000000000100?thread_ts=1699999999.000200&cid=C01',
      { chat: 'C01', messageId: '1700000000.000100', topic: '1699999999.000200' },
    ],
  ])('Slack: %j', (text, link) => {
    expect(slack.lookup.readLink(text)).toEqual({ channel: 'slack', ...link })
  })

  test.each([
    '',
    '77',
    'in_01',
    'https://t.me/family_chat',
    'https://t.me/c/12/x',
    'https://evil.example/t.me/c/1/2',
    'https://discord.com/channels/100/200',
    'https://discord.com.evil.example/channels/1/2/3',
    'https://acme.slack.com/archives/C01/p17',
    'https://slack.com.evil.example/archives/C01/p1700000000000100',
  ])('%j is no link to a message on any platform', (text) => {
    for (const { lookup } of [telegram, discord, slack]) expect(lookup.readLink(text)).toBeNull()
  })
})
