import { partName } from '../core/content-words.ts'
import type { RenderedPart } from '../core/outbound.ts'
import { withoutFile } from './plan-reply.ts'

const LONGEST_REASON = 200

/**
 * Returns what is sent in the place of a part whose file the platform refused. A text that was to be spoken says it
 * all; a caption says nothing without its file, so that the reason stands below it, without markup.
 */
export function inText(part: RenderedPart, reason: string): RenderedPart {
  const { file } = part
  if (file === undefined || file.as === 'voice') return withoutFile(part)
  const line = `${partName(file)} could not be sent here: ${reason.slice(0, LONGEST_REASON)}`
  const plain = part.plain === '' ? line : `${part.plain}\n\n${line}`
  return { ...withoutFile(part), text: plain, plain, markup: 'plain' }
}
