import { describe, expect, test } from 'vitest'
import { discordFormat } from '../../../adapters/discord/format.ts'
import { slackFormat } from '../../../adapters/slack/format.ts'
import { telegramFormat } from '../../../adapters/telegram/format.ts'
import { parseTelegramHtml } from '../telegram/telegram-html.ts'
import { ADDRESSES } from './answers/addresses.ts'
import { BLOCKS } from './answers/blocks.ts'
import type { Case } from './answers/case.ts'
import { FENCES } from './answers/fences.ts'
import { FORMULAS } from './answers/formulas.ts'
import { TAGS } from './answers/tags.ts'
import { WORDS } from './answers/words.ts'
import { readDiscord } from './read-discord.ts'
import { readSlack } from './read-slack.ts'
import type { Reading } from './reading.ts'

const KINDS: Readonly<Record<string, readonly Case[]>> = {
  ...ADDRESSES,
  ...WORDS,
  ...BLOCKS,
  ...FENCES,
  ...TAGS,
  ...FORMULAS,
}

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

const PLATFORMS = {
  telegram: (markdown: string) => telegramFormat.split(markdown).map(({ text }) => readTelegram(text)),
  discord: (markdown: string) => discordFormat.split(markdown).map(({ text }) => readDiscord(text)),
  slack: (markdown: string) => slackFormat.split(markdown).map(({ text }) => readSlack(text)),
}

const lines = (text: string) => text.replace(/[ \t\u00a0]+$/gm, '').replace(/\n{3,}/g, '\n\n')

/** The marked words, however many stretches they are in. */
function expectMarks(reading: Reading | undefined, { bold, italic, code, links }: Case): void {
  if (bold !== undefined) expect(reading?.bold.join('')).toBe(bold.join(''))
  if (italic !== undefined) expect(reading?.italic.join('')).toBe(italic.join(''))
  if (code !== undefined) expect(new Set(reading?.code)).toEqual(new Set(code))
  if (links !== undefined) expect(new Set(reading?.links)).toEqual(new Set(links))
}

describe.each(Object.entries(PLATFORMS))('answers on %s', (platform, read) => {
  describe.each(Object.entries(KINDS))('%s', (_kind, cases) => {
    test.each(cases.map((one) => [one.written.slice(0, 60), one] as const))('%j', (_written, one) => {
      const [reading, ...others] = read(one.written)
      expect(others).toEqual([])
      expect(lines(reading?.text ?? '')).toBe(lines(one.read))
      if (platform !== 'slack' || !one.plainOnSlack) expectMarks(reading, one)
    })
  })
})

test('every kind has at least ten answers, and none is written twice', () => {
  for (const [kind, cases] of Object.entries(KINDS)) expect(cases.length, kind).toBeGreaterThanOrEqual(10)
  const written = Object.values(KINDS).flatMap((cases) => cases.map((one) => one.written))
  expect(new Set(written).size).toBe(written.length)
})
