import { WebClient } from '@slack/web-api'
import { describe, expect, test } from 'vitest'
import { rateLimited } from '../../../src/rehearsal/slack/server.ts'
import { call, refusal, rehearse } from './rehearsal.ts'

async function workshop() {
  const server = await rehearse()
  const ada = server.world.addUser({ id: 'U333', name: 'ada' })
  const channel = server.world.addChannel({ name: 'workshop', members: [ada] }).id
  return { server, ada, channel, world: server.world }
}

describe('tokens and scopes', () => {
  test.each([
    ['no token', '', 'not_authed'],
    ['a wrong token', 'xoxb-wrong', 'invalid_auth'],
    ['the app-level token', 'xapp-rehearsal', 'not_allowed_token_type'],
  ])('%s is refused', async (_, token, error) => {
    const { server } = await workshop()
    expect((await call(server, 'auth.test', {}, token)).body).toEqual({ ok: false, error })
  })

  test('a revoked token is refused with the word that was set', async () => {
    const { server } = await workshop()
    server.app.botTokenRefusal = 'token_revoked'
    expect(await refusal(server, 'auth.test')).toBe('token_revoked')
  })

  test('a missing scope is named, with what the token has', async () => {
    const { server, channel } = await workshop()
    server.app.scopes = ['chat:write']
    expect((await call(server, 'conversations.history', { channel })).body).toEqual({
      ok: false,
      error: 'missing_scope',
      needed: 'channels:history',
      provided: 'chat:write',
    })
    expect((await call(server, 'auth.test')).headers.get('x-oauth-scopes')).toBe('chat:write')
  })

  test('an unknown method, and a token among the arguments, are refused', async () => {
    const { server } = await workshop()
    expect(await refusal(server, 'chat.meMessage')).toBe('unknown_method')
    expect(await refusal(server, 'auth.test', { token: 'xoxb-rehearsal' })).toBe('invalid_arguments')
    expect(server.ledger.entries).toContainEqual(expect.objectContaining({ kind: 'unrehearsed' }))
  })
})

describe('chat.postMessage', () => {
  test('the real client is answered', async () => {
    const { server, channel } = await workshop()
    const client = new WebClient(server.app.botToken, { slackApiUrl: server.apiRoot })
    const metadata = { event_type: 'x', event_payload: { id: '1' } }
    const { ts } = await client.chat.postMessage({ channel, text: 'hello', metadata })
    expect(server.ledger.fromBot()).toMatchObject([{ ts, text: 'hello', thread: null, message: { metadata } }])
  })

  test.each([
    ['an unknown channel', { channel: 'C404', text: 'x' }, 'channel_not_found'],
    ['no text', {}, 'no_text'],
    ['blank text', { text: ' ' }, 'no_text'],
    ['too long Markdown', { markdown_text: 'x'.repeat(12_001) }, 'msg_too_long'],
    ['Markdown beside text', { markdown_text: 'x', text: 'y' }, 'markdown_text_conflict'],
    ['too many blocks', { blocks: Array.from({ length: 51 }, () => ({ type: 'divider' })) }, 'invalid_blocks'],
    [
      'a section that is too long',
      { blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(3001) } }] },
      'invalid_blocks',
    ],
    [
      'blocks that are too long together',
      {
        blocks: Array.from({ length: 5 }, () => ({
          type: 'section',
          text: { type: 'mrkdwn', text: 'x'.repeat(2900) },
        })),
      },
      'msg_blocks_too_long',
    ],
    ['a thread that is none', { text: 'x', thread_ts: '42' }, 'invalid_thread_ts'],
    ['a thread that is not there', { text: 'x', thread_ts: '1000000000.000001' }, 'thread_not_found'],
    ['nonsense metadata', { text: 'x', metadata: '{"id":1}' }, 'invalid_metadata_format'],
  ])('%s is refused', async (_, params, error) => {
    const { server, channel } = await workshop()
    expect(await refusal(server, 'chat.postMessage', { channel, ...params })).toBe(error)
    expect(server.ledger.fromBot()).toEqual([])
  })

  test('a reply to a reply is refused: a thread is named by its root', async () => {
    const { server, channel, world, ada } = await workshop()
    const root = world.say({ from: ada, channel, text: 'root' })
    const reply = world.say({ from: ada, channel, thread: root, text: 'reply' })
    expect(await refusal(server, 'chat.postMessage', { channel, text: 'x', thread_ts: reply.ts })).toBe(
      'cannot_reply_to_message',
    )
  })

  test('a place the bot is not in, or that is archived, is refused', async () => {
    const { server, channel, world } = await workshop()
    world.archive(channel)
    expect(await refusal(server, 'chat.postMessage', { channel, text: 'x' })).toBe('is_archived')
    world.archive(channel, false)
    world.setMember(channel, false)
    expect(await refusal(server, 'chat.postMessage', { channel, text: 'x' })).toBe('not_in_channel')
  })

  test('text over 40,000 characters is cut, with a warning', async () => {
    const { server, channel } = await workshop()
    const { body } = await call(server, 'chat.postMessage', { channel, text: 'x'.repeat(40_001) })
    expect(body).toMatchObject({ ok: true, warning: 'message_truncated' })
    expect(server.ledger.fromBot()[0]?.text).toHaveLength(40_000)
  })

  test('what it pings is in the ledger', async () => {
    const { server, channel } = await workshop()
    await call(server, 'chat.postMessage', { channel, text: '<!channel> <@U333> &lt;!here&gt; <https://x.org|x>' })
    expect(server.ledger.fromBot()[0]?.pings).toEqual(['!channel', 'U333'])
  })

  test('429 comes on demand, with Retry-After', async () => {
    const { server, channel } = await workshop()
    server.faults.add(rateLimited('chat.postMessage', 30))
    const answer = await call(server, 'chat.postMessage', { channel, text: 'x' })
    expect([answer.status, answer.headers.get('retry-after'), answer.body.error]).toEqual([429, '30', 'ratelimited'])
  })
})

describe('chat.update and chat.delete', () => {
  test('only messages of the bot, only those that are there, only 4,000 characters', async () => {
    const { server, channel, world, ada } = await workshop()
    const theirs = world.say({ from: ada, channel, text: 'mine' }).ts
    const { ts } = (await call(server, 'chat.postMessage', { channel, text: 'x' })).body
    expect(await refusal(server, 'chat.update', { channel, ts: theirs, text: 'y' })).toBe('cant_update_message')
    expect(await refusal(server, 'chat.delete', { channel, ts: theirs })).toBe('cant_delete_message')
    expect(await refusal(server, 'chat.update', { channel, ts, text: 'x'.repeat(4001) })).toBe('msg_too_long')
    expect(await refusal(server, 'chat.update', { channel, ts, text: 'y' })).toBe('ok')
    expect(await refusal(server, 'chat.delete', { channel, ts })).toBe('ok')
    expect(await refusal(server, 'chat.update', { channel, ts, text: 'z' })).toBe('message_not_found')
  })
})

describe('histories', () => {
  test('a channel gives its roots, newest first, a thread all of itself, oldest first; metadata on request', async () => {
    const { server, channel, world, ada } = await workshop()
    const root = world.say({ from: ada, channel, text: 'root' })
    const metadata = { event_type: 'x', event_payload: { id: '1' } }
    await call(server, 'chat.postMessage', { channel, text: 'reply', thread_ts: root.ts, metadata })
    world.say({ from: ada, channel, text: 'later' })
    const texts = async (method: string, params: object = {}) => {
      const { body } = await call(server, method, { channel, ...params })
      return (body.messages as { text: string; metadata?: object }[]).map(({ text, metadata: with_ }) => [text, with_])
    }
    expect(await texts('conversations.history')).toEqual([
      ['later', undefined],
      ['root', undefined],
    ])
    expect(await texts('conversations.replies', { ts: root.ts })).toEqual([
      ['root', undefined],
      ['reply', undefined],
    ])
    expect(await texts('conversations.replies', { ts: root.ts, include_all_metadata: 'true' })).toContainEqual([
      'reply',
      metadata,
    ])
    expect(await refusal(server, 'conversations.replies', { channel, ts: '1000000000.000001' })).toBe(
      'thread_not_found',
    )
  })

  test('they come in pages', async () => {
    const { server, channel, world, ada } = await workshop()
    for (const text of ['1', '2', '3']) world.say({ from: ada, channel, text })
    const first = (await call(server, 'conversations.history', { channel, limit: '2' })).body
    const cursor = (first.response_metadata as { next_cursor: string }).next_cursor
    const second = (await call(server, 'conversations.history', { channel, limit: '2', cursor })).body
    expect([first.has_more, second.has_more]).toEqual([true, false])
    expect(second.messages).toMatchObject([{ text: '1' }])
  })
})

test('people and conversations are described', async () => {
  const { server, channel } = await workshop()
  expect((await call(server, 'users.info', { user: 'U333' })).body.user).toMatchObject({ name: 'ada', team_id: 'T01' })
  expect(await refusal(server, 'users.info', { user: 'U404' })).toBe('user_not_found')
  expect((await call(server, 'conversations.info', { channel })).body.channel).toMatchObject({ is_channel: true })
  expect((await call(server, 'conversations.open', { users: 'U333' })).body.channel).toEqual({ id: 'D333' })
})
