import type { TextFormat } from '../../src/channels/adapter.ts'
import { type Block, indentText } from '../shared/document.ts'
import { layOutBlocks, type Passage } from '../shared/lay-out-blocks.ts'
import { literalText, parseMarkdown } from '../shared/markdown.ts'
import type { Ruler } from '../shared/measure.ts'
import { type Part, splitPassages } from '../shared/split-text.ts'
import { discordMarks, QUOTE_SIGN, renderMarkdown, renderPlain } from './outbound/render.ts'

/** Characters of the raw message (docs, Create Message); UTF-16 units are never fewer. */
const LIMIT = 2000
/** Left for the mark of a repeat, which counts like the rest here. */
const RESERVE = 10

export const discordFormat: TextFormat = createDiscordFormat(LIMIT)

/** Markdown to Discord's own, in parts whose raw text stays within `limit`. Tables become code blocks. Pure; linear. */
export function createDiscordFormat(limit: number): TextFormat {
  const ruler: Ruler = { limit: limit - RESERVE, marks: discordMarks }
  const partsOf = (blocks: readonly Block[]) =>
    splitPassages(layOutBlocks(blocks).map(signQuote), ruler).filter(isVisible)
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

function isVisible(part: Part): boolean {
  return part.some(({ body }) => /[^\s\p{Cf}\uE000]/u.test(body.text))
}
