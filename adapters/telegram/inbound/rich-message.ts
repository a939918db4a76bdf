import { type Fields, isFields } from '../../shared/fields.ts'
import { type Entity, nameIn } from './entities.ts'

interface Flat {
  readonly text: string
  readonly entities: readonly Entity[]
}

/** The platform takes 32,768 characters, 500 blocks and a depth of 16. */
const LONGEST = 40_000
const MOST_NODES = 10_000
const DEEPEST = 32
const MOST_ENTITIES = 1_000

/**
 * Returns the blocks of a rich message as one text with entities, in the order in which people read them: lists with
 * their marks, tables by rows, headings as Markdown. Files are named where they stand.
 */
export function flattened({ blocks }: Fields): Flat {
  const writer = new RichWriter()
  writer.blocks(blocks, 0)
  return writer.flat()
}

/** The marks that a text with entities has as well. */
const INLINE = ['strikethrough', 'spoiler', 'code', 'text_mention', 'mention', 'bot_command', 'date_time']
/** The files that a block holds, by the block's type. */
export const RICH_FILES = ['photo', 'video', 'animation', 'audio', 'voice_note', 'document'] as const

class RichWriter {
  #text = ''
  #nodes = 0
  /** The next block begins in the line of its item's mark. */
  #joins = false
  readonly #entities: Entity[] = []

  flat(): Flat {
    return { text: this.#text.trimEnd(), entities: this.#entities }
  }

  blocks(value: unknown, depth: number): void {
    for (const block of listIn(value)) if (isFields(block)) this.#block(block, depth)
  }

  #block(block: Fields, depth: number): void {
    if (!this.#goesOn(depth)) return
    const type = typeof block.type === 'string' ? block.type : ''
    if (type === 'thinking' || type === 'anchor') return
    this.#line()
    if (type === 'divider') this.#write('---')
    else if (type === 'pre') this.#marked('pre', block, () => this.#rich(block.text, depth))
    else if (type === 'list') this.#list(block, depth)
    else if (type === 'table') this.#table(block, depth)
    else if (/quot/.test(type)) this.#marked('blockquote', {}, () => this.#parts(block, depth))
    else {
      if (type === 'heading') this.#write(`${'#'.repeat(sizeOfHeading(block.size))} `)
      this.#parts(block, depth)
    }
    this.#line()
  }

  /** The words of a block of any type, also one that came later than this was written. */
  #parts(block: Fields, depth: number): void {
    this.#file(block)
    for (const words of [block.text, block.summary, block.expression]) this.#rich(words, depth)
    this.#buttons(block.buttons, depth)
    if (block.blocks !== undefined) {
      this.#line()
      this.blocks(block.blocks, depth + 1)
    }
    this.#caption(block.caption, depth)
    if (block.credit !== undefined) {
      this.#line()
      this.#write('— ')
      this.#rich(block.credit, depth)
    }
  }

  #file({ type, location }: Fields): void {
    const name = RICH_FILES.find((file) => file === type)
    if (name !== undefined) this.#write(`(${name.replace('_', ' ')})`)
    if (isFields(location)) this.#write(`(map: ${location.latitude}, ${location.longitude})`)
  }

  #caption(caption: unknown, depth: number): void {
    if (caption === undefined) return
    this.#line()
    const { text, credit } = isFields(caption) && caption.type === undefined ? caption : { text: caption }
    this.#rich(text, depth)
    if (credit === undefined) return
    this.#write(' — ')
    this.#rich(credit, depth)
  }

  #list({ items }: Fields, depth: number): void {
    for (const item of listIn(items)) {
      if (!isFields(item)) continue
      this.#line()
      const label = typeof item.label === 'string' && !/^[\u2022·*]?$/.test(item.label) ? item.label : '-'
      const box = item.has_checkbox === true ? `[${item.is_checked === true ? 'x' : ' '}] ` : ''
      this.#write(`${'  '.repeat(depth)}${label} ${box}`)
      this.#joins = true
      this.blocks(item.blocks, depth + 1)
      this.#joins = false
    }
  }

  #table({ cells, caption }: Fields, depth: number): void {
    for (const row of listIn(cells)) {
      this.#line()
      listIn(row).forEach((cell, at) => {
        if (at > 0) this.#write(' | ')
        if (isFields(cell)) this.#rich(cell.text, depth)
      })
    }
    this.#caption(caption, depth)
  }

  #rich(value: unknown, depth: number): void {
    if (!this.#goesOn(depth)) return
    if (typeof value === 'string') this.#write(value)
    else if (Array.isArray(value)) for (const one of value) this.#rich(one, depth + 1)
    else if (isFields(value)) this.#span(value, depth)
  }

  #span(span: Fields, depth: number): void {
    const { type, text, url, user, username } = span
    const words = text ?? span.alternative_text ?? span.expression ?? span.button
    const inner = (): void => this.#rich(words ?? (isFields(user) ? nameIn(user) : undefined), depth + 1)
    if (typeof url === 'string') this.#marked('text_link', span, inner)
    else if (type === 'mention' && typeof username === 'string') {
      this.#marked('mention', span, () => this.#write(`@${username.replace(/^@/, '')}`))
    } else if (typeof type === 'string' && INLINE.includes(type)) this.#marked(type, span, inner)
    else inner()
  }

  #buttons(value: unknown, depth: number): void {
    const buttons = listIn(value).flat(1).filter(isFields)
    buttons.forEach((button, at) => {
      if (at > 0) this.#write(' / ')
      this.#span(button, depth + 1)
    })
  }

  #marked(type: string, { url, user, language, unix_time: time }: Fields, write: () => void): void {
    const offset = this.#text.length
    write()
    const length = this.#text.length - offset
    if (length === 0 || this.#entities.length >= MOST_ENTITIES) return
    this.#entities.push({
      ...{ type, offset, length },
      ...(typeof url === 'string' ? { url } : {}),
      ...(isFields(user) ? { user } : {}),
      ...(typeof language === 'string' ? { language } : {}),
      ...(typeof time === 'number' ? { time } : {}),
    })
  }

  #write(text: string): void {
    this.#text += text.slice(0, Math.max(0, LONGEST - this.#text.length))
  }

  #line(): void {
    if (this.#joins) this.#joins = false
    else if (this.#text !== '' && !this.#text.endsWith('\n')) this.#write('\n')
  }

  #goesOn(depth: number): boolean {
    return depth < DEEPEST && this.#nodes++ < MOST_NODES && this.#text.length < LONGEST
  }
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function sizeOfHeading(size: unknown): number {
  return Number.isInteger(size) && Number(size) >= 1 && Number(size) <= 6 ? Number(size) : 2
}
