import type { ChatType } from '../../core/address.ts'
import type { Writer } from '../../core/dispatch.ts'
import type { UserMessageData } from '../../core/event.ts'
import type { Heard } from './heard.ts'

const QUOTE_LENGTH = 200

/**
 * A user message as the model reads it. In groups it carries the sender's name, and a tag when it was not addressed to
 * the agent (S26, S27); in direct chats it is the raw text. The stored event keeps the raw text (S23).
 */
export function taggedText(message: Heard, chatType: ChatType): string {
  if (message.from) return labelled(message.text, message.from)
  const body = withQuote(message) + withAttachments(message)
  const told = message.deleted ? '[deleted this message]' : message.edit ? '[edited an earlier message] ' : undefined
  if (chatType === 'direct') return `${told ?? ''}${body}`
  const name = message.sender.displayName ? `[${tagSafe(message.sender.displayName)}] ` : ''
  const aside = told ?? (message.addressed ? '' : '[not directed at you] ')
  return `${name}${aside}${withoutFakedTags(body)}`
}

/** What no person wrote is data, each line quoted: whatever it says, it does not look like a person's words. */
function labelled(text: string, from: Writer): string {
  const lines = text.split(/\r\n|[\r\n\u0085\u2028\u2029]/).map((line) => `> ${line}`)
  const who = 'hook' in from ? `hook ${tagSafe(from.hook)}` : `session ${tagSafe(from.displayKey)}, agent ${from.agent}`
  return [`[message from ${who}]`, ...lines].join('\n')
}

/** A line of a message must not look like the next person's: tags stand only at the start of a line. */
function withoutFakedTags(body: string): string {
  return body.replace(/(^|[\r\n\u2028])\[/g, '$1 [')
}

function withQuote({ quoted, text }: UserMessageData): string {
  if (!quoted?.text || quoted.own) return text
  const who = quoted.sender?.displayName ? ` ${tagSafe(quoted.sender.displayName)}` : ''
  const excerpt = quoted.text.replace(/\s+/g, ' ').slice(0, QUOTE_LENGTH)
  return `[in reply to${who}: ${tagSafe(excerpt)}] ${text}`
}

function withAttachments({ attachments }: UserMessageData): string {
  if (!attachments?.length) return ''
  return attachments.map((file) => ` [attached: ${tagSafe(file.fileName ?? file.mime ?? 'file')}]`).join('')
}

/** Names and quotes are other people's text: they must not be able to close or fake a tag. */
function tagSafe(text: string): string {
  return text
    .replace(/[[\]\r\n]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
