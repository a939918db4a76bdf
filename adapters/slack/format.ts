import type { TextFormat } from '../../src/channels/adapter.ts'
import type { Block } from '../shared/document.ts'
import { layOutBlocks } from '../shared/lay-out-blocks.ts'
import { literalText, parseMarkdown } from '../shared/markdown.ts'
import type { Ruler } from '../shared/split-text.ts'
import { type Part, splitPassages } from '../shared/split-text.ts'
import { mrkdwnMarks, renderMrkdwn, renderPlain } from './outbound/render.ts'

/** The platform's advice for a message and the most that chat.update accepts; in UTF-16 units of the raw text. */
const LIMIT = 4000

export const slackFormat: TextFormat = createSlackFormat(LIMIT)

/** Markdown to mrkdwn in parts whose raw text, escapes and marks included, is at most `limit` UTF-16 units. Pure. */
export function createSlackFormat(limit: number): TextFormat {
  const ruler: Ruler = { limit, marks: mrkdwnMarks }
  const partsOf = (blocks: readonly Block[]) => splitPassages(layOutBlocks(blocks), ruler).filter(isVisible)
  return {
    limit,
    split(markdown) {
      const parts = partsOf(parseMarkdown(markdown))
      // An answer that is nothing but marks (an empty fence) is still an answer.
      const shown = parts.length === 0 ? partsOf(literalText(markdown)) : parts
      return shown.map((part) => ({ text: renderMrkdwn(part), plain: renderPlain(part), markup: 'mrkdwn' }))
    },
  }
}

/** A message of nothing but white space and invisible characters is refused as `no_text`. */
function isVisible(part: Part): boolean {
  return part.some((passage) => /[^\s\p{Cf}]/u.test(passage.body.text))
}
