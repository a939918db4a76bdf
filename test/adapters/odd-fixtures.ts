import { readdirSync, readFileSync } from 'node:fs'

function payloadsOf(platform: string): unknown[] {
  const folder = new URL(`../fixtures/${platform}/`, import.meta.url)
  return readdirSync(folder).map((name) => {
    const { update, body } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Record<string, unknown>
    return update ?? body
  })
}

export const telegramUpdates: readonly unknown[] = payloadsOf('telegram')
export const slackBodies: readonly unknown[] = payloadsOf('slack')

const ada = { id: '222', username: 'ada', global_name: 'Ada', bot: false }
const at = { channel_id: '200', guild_id: '100' }
const id = '1573660185950420993'
const message = {
  ...{ ...at, id, type: 0, author: ada, content: 'hello <@900>', timestamp: '2026-11-21T12:00:00Z' },
  ...{ edited_timestamp: null, mentions: [{ id: '900' }], mention_roles: [], mention_everyone: false, flags: 0 },
  attachments: [{ id: '5', filename: 'a.txt', size: 3, content_type: 'text/plain' }],
}
const reply = { ...message, type: 19, message_reference: { message_id: '1', type: 0 }, referenced_message: message }
const forward = { ...message, message_reference: { type: 1 }, message_snapshots: [{ message: { content: 'there' } }] }
const media = { url: 'https://cdn.discordapp.com/attachments/200/31/a.png', attachment_id: '31', description: 'x' }
const app = {
  ...{ ...message, author: { ...ada, bot: true }, content: '<@900> <#5> <@&7> [a](https://b.example)' },
  embeds: [{ type: 'rich', title: 'a', author: { name: 'b' }, fields: [{ name: 'c', value: 'd' }], image: media }],
  components: [
    { type: 1, components: [{ type: 2, label: 'a', emoji: { id: null, name: 'b' }, url: 'https://b.example' }] },
    { type: 17, components: [{ type: 9, components: [{ type: 10, content: 'x' }], accessory: { type: 11, media } }] },
  ],
  sticker_items: [{ id: '1', name: 'a' }],
  poll: {
    question: { text: 'a' },
    answers: [{ answer_id: 1, poll_media: { text: 'b' } }],
    results: { answer_counts: [] },
  },
}

/** Dispatches of the gateway that we read. */
export const discordDispatches: readonly { readonly type: string; readonly data: unknown }[] = [
  ...[message, reply, forward, app].map((data) => ({ type: 'MESSAGE_CREATE', data })),
  { type: 'MESSAGE_UPDATE', data: { ...message, edited_timestamp: '2026-11-21T12:01:00Z' } },
  { type: 'GUILD_ROLE_CREATE', data: { guild_id: '100', role: { id: '8', name: 'a', tags: { bot_id: '900' } } } },
  { type: 'MESSAGE_DELETE', data: { ...at, id } },
  { type: 'MESSAGE_DELETE_BULK', data: { ...at, ids: [id, '1573660185950420994'] } },
  {
    type: 'INTERACTION_CREATE',
    data: {
      ...{ id, application_id: '900', type: 2, token: 't', guild_id: '100', channel: { id: '200', type: 0 } },
      member: { user: ada },
      data: { id: '1', name: 'new', type: 1, options: [{ name: 'text', type: 3, value: 'x' }] },
    },
  },
]
