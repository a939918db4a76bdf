import { createDiscordFormat } from '../../../adapters/discord/format.ts'
import { createSlackFormat } from '../../../adapters/slack/format.ts'
import { createTelegramFormat } from '../../../adapters/telegram/format.ts'
import { parseTelegramHtml } from '../telegram/telegram-html.ts'
import { readDiscord } from './read-discord.ts'
import { readSlack } from './read-slack.ts'
import type { Reading } from './reading.ts'

function readTelegram(html: string): Reading {
  const { visible, elements } = parseTelegramHtml(html)
  const textsOf = (...tags: string[]) => elements.filter(({ tag }) => tags.includes(tag)).map(({ text }) => text)
  const unescaped = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"')
  const hidden = elements.filter(({ tag }) => tag === 'a').map(({ attributes }) => unescaped(attributes.slice(7, -1)))
  const outside = html.replace(/<(a|code|pre)\b[\s\S]*?<\/\1>/g, '')
  const bare = outside.matchAll(/(?<=^|[\s(>])https?:\/\/[^\s<>"]+[^\s<>".,:;]/g)
  const balanced = (found: string) =>
    found.endsWith(')') && found.split(')').length > found.split('(').length ? found.slice(0, -1) : found
  return {
    text: visible,
    bold: textsOf('b'),
    italic: textsOf('i'),
    code: textsOf('code', 'pre'),
    links: [...hidden, ...[...bare].map(([address]) => unescaped(balanced(address)))],
  }
}

/** Answers in parts of a size, as people read them there. */
export const PLATFORMS = {
  telegram: (markdown: string, limit = 4096) =>
    createTelegramFormat(limit)
      .split(markdown)
      .map(({ text }) => readTelegram(text)),
  discord: (markdown: string, limit = 2000) =>
    createDiscordFormat(limit)
      .split(markdown)
      .map(({ text }) => readDiscord(text)),
  slack: (markdown: string, limit = 4000) =>
    createSlackFormat(limit)
      .split(markdown)
      .map(({ text }) => readSlack(text)),
}
