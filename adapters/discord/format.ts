import type { TextFormat } from '../../src/channels/adapter.ts'
import { type Block, indentText } from '../shared/document.ts'
import { layOutBlocks, type Passage } from '../shared/lay-out-blocks.ts'
import { literalText, parseMarkdown } from '../shared/markdown.ts'
import type { Ruler } from '../shared/split-text.ts'
import { type Part, splitPassages } from '../shared/split-text.ts'
import { discordMarks, QUOTE_SIGN, renderMarkdown, renderPlain, STOP_SIGN } from './outbound/render.ts'

/** Characters of the raw message (docs, Create Message); UTF-16 units are never fewer. */
const LIMIT = 2000
/** Left for the mark of a repeat, which counts like the rest here. */
const RESERVE = 10

export const discordFormat: TextFormat = createDiscordFormat(LIMIT)

/** Markdown to Discord's own, in parts whose raw text stays within `limit`. Tables become code blocks. Pure; linear. */
export function createDiscordFormat(limit: number): TextFormat {
  const ruler: Ruler = { limit: limit - RESERVE, marks: discordMarks }
  const partsOf = (blocks: readonly Block[]) =>
    splitPassages(signNumbers(layOutBlocks(blocks)).map(signQuote), ruler).filter(isVisible)
  return {
    limit,
    split(markdown) {
      const parts = partsOf(parseMarkdown(markdown))
      // An answer that is nothing but marks (an empty fence) is still an answer.
      const shown = parts.length === 0 ? partsOf(literalText(markdown)) : parts
      return shown.map((part) => ({
        text: renderMarkdown(part),
        plain: renderPlain(part, limit - RESERVE),
        markup: 'markdown',
      }))
    },
  }
}

/** A quote has its mark on every line, so that each line is measured with it; code keeps its own frame. */
function signQuote(passage: Passage): Passage {
  if (!passage.quoted || passage.kind === 'code') return passage
  return { ...passage, body: indentText(passage.body, QUOTE_SIGN, QUOTE_SIGN) }
}

/**
 * Discord counts the lines of a list from its first number on: a number that it would change, or drop as zero, is no
 * number of a list for it.
 */
function signNumbers(passages: readonly Passage[]): readonly Passage[] {
  /** The last number at each indent of the list at hand. */
  let last: number[] = []
  return passages.map((passage) => {
    if (passage.kind === 'code') {
      last = []
      return passage
    }
    if (passage.gap.length > 1 && !/^ *\d/.test(passage.body.text)) last = []
    if (!/^ *\d{1,9}\.\s/m.test(passage.body.text)) return passage
    const text = passage.body.text.replace(/^( *)(\d{1,9})\.(?=\s)/gm, (line, indent: string, digits: string) => {
      const number = Number(digits)
      const above = last[indent.length]
      last = [...last.slice(0, indent.length), ...Array(indent.length - Math.min(last.length, indent.length))]
      last[indent.length] = number
      const counts = number > 0 && String(number) === digits && (above === undefined || number === above + 1)
      return counts ? line : `${indent}${digits}${STOP_SIGN}`
    })
    return { ...passage, body: { text, runs: passage.body.runs } }
  })
}

function isVisible(part: Part): boolean {
  return part.some(({ body }) => /[^\s\p{Cf}\uE000\uE001]/u.test(body.text))
}
