import type { RenderedPart, TextFormat } from '../../src/channels/adapter.ts'
import type { Block } from '../shared/document.ts'
import { layOutBlocks } from '../shared/lay-out-blocks.ts'
import { isBareText, literalText, parseMarkdown } from '../shared/markdown.ts'
import type { Ruler } from '../shared/split-text.ts'
import { type Part, splitPassages } from '../shared/split-text.ts'
import { renderHtml, renderPlain, renderWords } from './outbound/render.ts'

/** UTF-16 units of text after entity parsing (Bot API, sendMessage). */
const LIMIT = 4096
/** UTF-16 units of text below a file, after entity parsing. */
const CAPTION = 1024

export const telegramFormat: TextFormat = createTelegramFormat(LIMIT)

/** Markdown to Telegram HTML in parts of at most `limit` UTF-16 units of visible text. Pure; linear in the text. */
export function createTelegramFormat(limit: number): TextFormat {
  const ruler: Ruler = { limit, marks: undefined }
  const partsOf = (blocks: readonly Block[]) => splitPassages(layOutBlocks(blocks), ruler).filter(isVisible)
  return {
    limit,
    captionLimit: Math.min(limit, CAPTION),
    split(markdown) {
      if (markdown.length <= limit && isBareText(markdown) && VISIBLE.test(markdown)) return [bare(markdown)]
      const parts = partsOf(parseMarkdown(markdown))
      // An answer that is nothing but marks (an empty fence) is still an answer.
      const shown = parts.length === 0 ? partsOf(literalText(markdown)) : parts
      return shown.map((part) => ({ text: renderHtml(part), plain: renderPlain(part, limit), markup: 'html' }))
    },
  }
}

/** Most short answers: what the way of all others would come to. */
function bare(text: string): RenderedPart {
  return { text: renderWords(text), plain: text, markup: 'html' }
}

const VISIBLE = /[^\s\p{Cf}]/u

/** Telegram refuses a message of nothing but white space and invisible characters as empty. */
function isVisible(part: Part): boolean {
  return part.some((passage) => VISIBLE.test(passage.body.text))
}
