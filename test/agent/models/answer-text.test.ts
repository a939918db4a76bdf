import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LONGEST_MARK } from '../../../src/agent/models/answer-marks.ts'
import { type AnswerReader, createAnswerReader } from '../../../src/agent/models/answer-text.ts'
import type { ToolSpec } from '../../../src/core/model.ts'

const TOOLS: readonly ToolSpec[] = [{ name: 'note', description: '', parameters: { type: 'object' } }]

interface Way {
  readonly cut?: boolean
  readonly apart?: boolean
  readonly unopened?: boolean
  readonly tools?: readonly ToolSpec[]
}

/** Reads an answer in deltas. `shown`: the text after each event, as people see it. */
function readIn(deltas: readonly string[], { cut = false, apart = false, unopened = false, tools = TOOLS }: Way = {}) {
  const reader = createAnswerReader(tools, unopened)
  const shown: string[] = ['']
  const see = (events: ReturnType<AnswerReader['read']>) => {
    for (const event of events) shown.push(event.type === 'retract' ? '' : `${shown.at(-1)}${event.delta}`)
  }
  for (const delta of deltas) see(reader.read(delta))
  const { said, calls } = reader.end({ cut, apart })
  see(said)
  return { text: shown.at(-1) ?? '', calls, shown, thought: reader.thought, unopened: reader.unopened }
}

const each = (text: string): readonly string[] => text.split('')

/** Reads a text as a whole and by characters, which must give the same. */
function textOf(text: string, way: Way = {}): string {
  const whole = readIn([text], way)
  expect(readIn(each(text), way).text).toBe(whole.text)
  return whole.text
}

const OPENED: readonly (readonly [string, string])[] = [
  ['<think>', '</think>'],
  ['<THINK>', '</Think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<thoughts>', '</thoughts>'],
  ['<reasoning>', '</reasoning>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|channel>thought\n', '<channel|>'],
  ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
  ['<|channel|>analysis<|message|>', '<|end|><|channel|>final <|constrain|>text<|message|>'],
  ['<|start|>assistant<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
  ['analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
]

describe('answer-text: thoughts that are opened', () => {
  it.each(OPENED)('%s … %s is not said, nor the white space around it', (open, close) => {
    for (const text of [`${open}I greet.${close}Hello.`, `\n ${open}\nI greet.\n${close}\n\nHello.`]) {
      const { text: said, shown, thought, unopened } = readIn(each(text))
      expect({ said, thought, unopened }).toEqual({ said: 'Hello.', thought: true, unopened: false })
      expect(shown.join(' ')).not.toContain('greet')
    }
  })

  it.each(OPENED)('%s that is never closed at the start is a thought to the end', (open) => {
    for (const cut of [true, false]) expect(textOf(`${open}I should greet them`, { cut })).toBe('')
  })

  it.each([
    ['two thoughts in a row', '<think>a</think>\n<think>b</think>\nHello.', 'Hello.'],
    ['the second of them is cut', '<think>a</think>\n<think>b', ''],
    ['marks of two kinds', '<think>a</think><reasoning>b</reasoning>Hello.', 'Hello.'],
    ['a later one at the start of a line', 'One.\n\n<think>hm</think>\nTwo.', 'One.\n\nTwo.'],
    ['a later one right behind a sentence', 'One.<think>hm</think> Two.', 'One.Two.'],
    ['a later one behind a sentence', 'One! <think>hm</think> Two.', 'One! Two.'],
    ['an empty one', '<think>\n\n</think>\n\nHello.', 'Hello.'],
    ['silence', '<think>Nobody asks me.</think><NO_REPLY>', '<NO_REPLY>'],
    ['silence with a reason', '<think>No.</think>\n<NO_REPLY: they talk>', '<NO_REPLY: they talk>'],
    ['a solution', '<|begin_of_thought|>a<|end_of_thought|><|begin_of_solution|>Hi.<|end_of_solution|>', 'Hi.'],
    ['a response', '<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>Hi.<|END_RESPONSE|>', 'Hi.'],
    ['tokens that a server has removed', 'analysisWe need to greet.assistantfinalHello.', 'Hello.'],
    ['the last mark of gpt-oss', '<|channel|>final<|message|>Hello.<|return|>', 'Hello.'],
    [
      'words before a call of gpt-oss',
      '<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>final<|message|>Done.',
      'I look.\n\nDone.',
    ],
    ['a closing mark that it quotes', '<think>He asks about "</think>". I explain.</think>Hi.', 'Hi.'],
    ['a closing mark in its code', '<think>It is `</think>`, I think.</think>Hi.', 'Hi.'],
    ['a closing mark in its block', '<think>```\n</think>\n```\nDone.</think>Hi.', 'Hi.'],
    ['its end reads like words and is the only one', '<think>I say hello </think> hello there', 'hello there'],
    ['its end stands in code that is never closed', '<think>```js\nlet a\n</think>\nHi.', 'Hi.'],
  ])('%s', (_, text, said) => {
    expect(textOf(text)).toBe(said)
  })

  it('a later one is hidden where the answer was cut in it, and is words where it was not', () => {
    expect(textOf('One.\n<think>hm', { cut: true })).toBe('One.\n')
    expect(textOf('One.\n<think>hm')).toBe('One.\n<think>hm')
  })

  it('what is thought at length is never shown, whatever the deltas', () => {
    const words = fc.string({ unit: fc.constantFrom('a', ' ', '.', '<', '>', 'think', '\n', '"', '/') })
    fc.assert(
      fc.property(
        fc.constantFrom(...OPENED.slice(0, 8)),
        words,
        fc.integer({ min: 1, max: 9 }),
        (marks, more, size) => {
          const [open, close] = marks
          const thought = `SECRET ${more}.`.replaceAll(/<\/|"/g, '')
          const text = `${open}${thought}\n${close}\nHello.`
          const { shown } = readIn(text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [])
          expect(shown.join('|')).not.toContain('S')
          expect(shown.at(-1)).toBe('Hello.')
        },
      ),
    )
  })
})

describe('answer-text: closing marks without an opening one', () => {
  it.each([
    ['right behind a sentence', 'I should greet them.</think>Hello.'],
    ['on a line of its own', 'I should greet them\n</think>\n\nHello.'],
    ['at the end of a line', 'I should greet them </think>\nHello.'],
    ['between sentences', 'I should greet them. </think> Hello.'],
    ['in front of a word', 'I should greet them </think>Hello.'],
    ['behind a word', 'I should greet them</think> Hello.'],
    ['behind an emoji', 'Greet them 👋 </think> Hello.'],
    ['in Chinese', '我应该打招呼。</think>Hello.'],
    ['behind a quotation', 'I should say "hi"</think>Hello.'],
    ['behind an apostrophe', "I shouldn't wait.</think>Hello."],
    ['behind the opening mark in quotation marks', 'He asks about "<think>".</think>Hello.'],
    ['another family', 'I should greet them.</thinking>Hello.'],
    ['Mistral', 'I should greet them.[/THINK]Hello.'],
    ['Kimi', 'I should greet them.◁/think▷Hello.'],
    ['Gemma', 'I should greet them.<channel|>Hello.'],
    ['gpt-oss', 'I should greet them.<|end|><|start|>assistant<|channel|>final<|message|>Hello.'],
    ['twice', 'I should.</think>Hm, greet.</think>Hello.'],
    ['behind an opened thought', '<think>I should.</think>Hm, greet.</think>Hello.'],
    ['at the very start', '</think>\n\nHello.'],
  ])('%s: all before it is taken back', (_, text) => {
    expect(textOf(text)).toBe('Hello.')
    expect(readIn(each(text))).toMatchObject({ thought: true })
  })

  it('is told, so that the next answer waits for it', () => {
    expect(readIn(['I should.</think>Hello.'])).toMatchObject({ unopened: true, shown: ['', 'Hello.'] })
    expect(readIn(['I should.', '</think>Hello.']).shown).toEqual(['', 'I should.', '', 'Hello.'])
  })

  it('at the very end it is left out where the answer has thought elsewhere, else all was a thought', () => {
    expect(textOf('Hello.\n</thinking>', { apart: true })).toBe('Hello.\n')
    expect(textOf('<think>a</think>Hello.</think>')).toBe('Hello.')
    expect(textOf('I should look.\n</think>\n')).toBe('')
  })

  it.each([
    ['a mark comes', 'I should greet them.</think>Hello.', {}, 'Hello.'],
    ['none comes', '\nHello.', {}, '\nHello.'],
    ['none comes and it was cut', 'I should greet', { cut: true }, ''],
    ['it was cut and thoughts came apart', 'Hello, my', { cut: true, apart: true }, 'Hello, my'],
    ['it is opened after all', '\n<think>a</think>\nHello.', {}, 'Hello.'],
    ['the thought names the mark', 'He asks for <think>. I explain.</think>\nHello.', {}, 'Hello.'],
    ['the thought leaves a block of code open', 'So:\n```js\nlet a\n</think>\nHello.', {}, 'Hello.'],
    [
      'the answer is about the mark',
      'You close it with </think> and go on.',
      {},
      'You close it with </think> and go on.',
    ],
    ['a second mark comes', 'I should.</think>Write `</think>` here.', {}, 'Write `</think>` here.'],
  ])('a model that is known for it shows nothing before: %s', (_, text, way, said) => {
    const { text: whole, shown } = readIn(each(text), { ...way, unopened: true })
    expect(whole).toBe(said)
    expect(shown.every((part) => said.startsWith(part))).toBe(true)
  })
})

describe('answer-text: words about the marks', () => {
  it.each([
    'You close it with </think> and go on.',
    'The tag is <think>.',
    'The tags are <think> and </think>, in that order.',
    'Man schließt mit </think> Gedanken ab.',
    '用 </think> 结束思考。',
    'Write `<think>` first, then `</think>`.',
    'It ends with `a</think>`Hello.',
    'Put "</think>" at the end.\nThen answer.',
    'Write "Stop.</think>Hello." to end it.',
    'Put “</think>” there. Schreib „</think>“ hin. Mets « </think> ici ». 「</think>」',
    "The mark '</think>' ends it.",
    'The last mark (</think>) ends it.',
    'Like this:\n```\n<think>\nhm\n</think>\nHello.\n```\nDone.',
    'Like this:\n~~~xml\n<think>a</think>\n~~~',
    '1. Open:\n   ```\n   <think>a</think>\n   ```',
    'Marks:\n- <think>\n- </think>\n',
    '| open | close |\n| <think> | </think> |\n',
    'The closing mark: </think>\nThen the answer.',
    'It follows. </think> is how it looks.',
    'Use <think>like this</think> in a line.',
    'Hello.\n<think> opens a thought.',
    'It is so. <think> opens a thought, and </think> closes it.',
    'Steps:\n1. <think>a</think>\n2. b',
    'Is it </think>? Or [/THINK]!',
    'The token <|channel|> begins a header; `<|start|>assistant` too.',
    'Models write <tool_call> before JSON, and [TOOL_CALLS] in Mistral.',
    'Models end with </tool_call> and stop.',
    '`<tool_call>{"name":"note"}</tool_call>`',
    '```\n<tool_call>{"name":"note","arguments":{}}</tool_call>\n```',
    'a < b, [x](y), ]], <b>bold</b>, <https://example.com>, <@444> and <',
    'Analysis: fine. analysis of it',
    '{"name":"Ann","age":3}',
    '[1, 2]',
    '   ',
    ' indented',
  ])('are kept: %j', (text) => {
    expect(textOf(text)).toBe(text)
    expect(readIn([text])).toMatchObject({ calls: [], thought: false })
  })
})

const PIECES = [
  ...['<think>', '</think>', '[THINK]', '[/THINK]', '<thinking>', '<tool_call>', '{"name":"note","arguments":{}}'],
  ...[
    '</tool_call>',
    '<|channel|>',
    'analysis',
    'final',
    '<|message|>',
    '<|end|>',
    '<|start|>',
    'assistant',
    ' to=note',
  ],
  ...['`', '```', '"', "'", '\n', ' ', '.', 'word', 'Word', '<', '[', '(', ')', '- ', ':', '<function=note>', '为'],
]

describe('answer-text: any text', () => {
  it('is read the same however it is cut into deltas', () => {
    const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join(''))
    const way = fc.record({ cut: fc.boolean(), apart: fc.boolean(), unopened: fc.boolean() })
    fc.assert(
      fc.property(text, way, fc.array(fc.integer({ min: 1, max: 12 })), (whole, how, sizes) => {
        const expected = readIn([whole], how)
        const deltas: string[] = []
        let left = whole
        for (const size of sizes) {
          deltas.push(left.slice(0, size))
          left = left.slice(size)
        }
        for (const cut of [[...deltas, left], each(whole)]) {
          const { text: said, calls, thought, unopened } = readIn(cut, how)
          const { text: asWhole, ...rest } = expected
          expect({ said, calls, thought, unopened }).toEqual({
            ...{ said: asWhole, calls: rest.calls, thought: rest.thought, unopened: rest.unopened },
          })
        }
      }),
      { numRuns: 1500 },
    )
  })

  it('without marks is said unchanged, and no more of it waits than a mark is long', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'B', ' ', '\n', '<', '[', ']', '{', '"', '|', '>', '`', '.', 'th'),
    })
    fc.assert(
      fc.property(text, (whole) => {
        const reader = createAnswerReader(TOOLS, false)
        const words = (events: ReturnType<AnswerReader['read']>): string =>
          events.map((event) => (event.type === 'text' ? event.delta : '')).join('')
        let said = ''
        for (const [index, delta] of each(whole).entries()) {
          said += words(reader.read(delta))
          expect(index + 1 - said.length).toBeLessThanOrEqual(LONGEST_MARK)
        }
        said += words(reader.end({ cut: false, apart: false }).said)
        expect(said).toBe(whole)
      }),
    )
  })
})
