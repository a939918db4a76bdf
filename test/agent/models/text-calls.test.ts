import { describe, expect, it } from 'vitest'
import { couldBeCalls, readCalls, readWholeCalls } from '../../../src/agent/models/text-calls.ts'
import type { ToolSpec } from '../../../src/core/model.ts'

const properties = {
  text: { type: 'string' },
  count: { type: 'integer' },
  all: { type: 'boolean' },
  list: { type: 'array' },
}
const TOOLS: readonly ToolSpec[] = ['note', 'look_up'].map((name) => ({
  ...{ name, description: '' },
  parameters: { type: 'object', properties },
}))

const read = (text: string) => {
  const { calls, rest } = readCalls(text, TOOLS)
  return {
    calls: calls.map(({ name, args }) => [name, args]),
    rest: rest.trim(),
    whole: calls.every(({ whole }) => whole),
  }
}

describe('text-calls: every form', () => {
  it.each([
    ['Hermes', '<tool_call>\n{"name": "note", "arguments": {"text": "a"}}\n</tool_call>'],
    ['Hermes with parameters', '<tool_call>{"name":"note","parameters":{"text":"a"}}</tool_call>'],
    ['without its closing mark', '<tool_call>{"name":"note","arguments":{"text":"a"}}'],
    ['a brace too many', '<tool_call>{"name":"note","arguments":{"text":"a"}}}</tool_call>'],
    ['in the spelling of Python', "<tool_call>{'name': 'note', 'arguments': {'text': 'a',}}</tool_call>"],
    ['OpenAI', '<tool_call>{"type":"function","function":{"name":"note","arguments":{"text":"a"}}}</tool_call>'],
    ['in a block of code', '<tool_call>\n```json\n{"name":"note","arguments":{"text":"a"}}\n```\n</tool_call>'],
    ['a name and JSON', '<tool_call>note\n{"text": "a"}\n</tool_call>'],
    ['Python in tags', '<function_calls>note(text="a")</function_calls>'],
    ['tools', '<tools>\n{"name":"note","arguments":{"text":"a"}}\n</tools>'],
    ['functioncall', '<functioncall> {"name":"note","arguments":{"text":"a"}}'],
    ['Qwen3-Coder', '<tool_call>\n<function=note>\n<parameter=text>\na\n</parameter>\n</function>\n</tool_call>'],
    ['Qwen3-Coder alone', '<function=note><parameter=text>a</parameter></function>'],
    ['Qwen3-Coder without closing marks', '<function=note>\n<parameter=text>\na\n'],
    ['a name in quotation marks', '<function name="note"><parameter name="text">a</parameter></function>'],
    ['Llama 3.1', '<function=note>{"text": "a"}</function>'],
    ['Groq', '<function=note{"text": "a"}</function>'],
    ['GLM', '<tool_call>note\n<arg_key>text</arg_key>\n<arg_value>a</arg_value>\n</tool_call>'],
    ['GLM in a line', '<tool_call>note<arg_key>text</arg_key><arg_value>a</arg_value></tool_call>'],
    ['Mistral', '[TOOL_CALLS]note[ARGS]{"text": "a"}'],
    ['Mistral with an id', '[TOOL_CALLS]note[CALL_ID]abc123def[ARGS]{"text": "a"}'],
    ['Mistral without a mark', '[TOOL_CALLS]note{"text": "a"}</s>'],
    ['older Mistral', '[TOOL_CALLS] [{"name": "note", "arguments": {"text": "a"}}]'],
    ['Llama', '<|python_tag|>{"name": "note", "parameters": {"text": "a"}}<|eom_id|>'],
    ['Llama in Python', '<|python_tag|>note.call(text="a")<|eot_id|>'],
    [
      'DeepSeek V3.1',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>note<｜tool▁sep｜>{"text":"a"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    [
      'DeepSeek R1',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>note\n```json\n{"text":"a"}\n```<｜tool▁call▁end｜>',
    ],
    ['DeepSeek in ASCII', '<|tool▁calls▁begin|><|tool▁call▁begin|>note<|tool▁sep|>{"text":"a"}<|tool▁call▁end|>'],
    [
      'DeepSeek with invented results',
      '<｜tool▁call▁begin｜>note<｜tool▁sep｜>{"text":"a"}<｜tool▁call▁end｜><｜tool▁outputs▁begin｜>ok<｜tool▁outputs▁end｜>',
    ],
    [
      'DSML',
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="note">\n<｜DSML｜parameter name="text" string="true">a</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    ],
    [
      'DSML with other bars',
      '<‖DSML‖tool_calls><‖DSML‖invoke name="note"><‖DSML‖parameter name="text">a</‖DSML‖parameter></‖DSML‖invoke></‖DSML‖tool_calls>',
    ],
    [
      'MiniMax',
      '<minimax:tool_call>\n<invoke name="note">\n<parameter name="text">a</parameter>\n</invoke>\n</minimax:tool_call>',
    ],
    [
      'MiniMax M3',
      ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="note">]<]minimax[>[<text>a]<]minimax[>[</text>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    ],
    [
      'Claude',
      '<function_calls>\n<invoke name="note">\n<parameter name="text">a</parameter>\n</invoke>\n</function_calls>',
    ],
    [
      'Glimmer',
      '<atem:function_calls><atem:invoke name="note"><atem:parameter name="text">a</atem:parameter></atem:invoke></atem:function_calls>',
    ],
    ['Gemma 4', '<|tool_call>call:note{text:<|"|>a<|"|>}<tool_call|>'],
    ['FunctionGemma', '<start_function_call>call:note{text:<escape>a<escape>}<end_function_call>'],
    ['Granite', '<|tool_call|>[{"name": "note", "arguments": {"text": "a"}}]'],
    ['LFM2', '<|tool_call_start|>[note(text="a")]<|tool_call_end|>'],
    ['Cohere', '<|START_ACTION|>[{"tool_call_id":"0","tool_name":"note","parameters":{"text":"a"}}]<|END_ACTION|>'],
    ['InternLM', '<|action_start|><|plugin|>{"name":"note","parameters":{"text":"a"}}<|action_end|>'],
    [
      'results of the model itself',
      '<tool_call>{"name":"note","arguments":{"text":"a"}}</tool_call><tool_response>ok</tool_response>',
    ],
  ])('%s', (_, text) => {
    expect(read(text)).toEqual({ calls: [['note', { text: 'a' }]], rest: '', whole: true })
  })

  it.each([
    [
      'Kimi',
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.note:0<|tool_call_argument_begin|>{"text":"a"}<|tool_call_end|><|tool_calls_section_end|>',
      'functions.note:0',
    ],
    [
      'gpt-oss',
      '<|channel|>commentary to=functions.note <|constrain|>json<|message|>{"text":"a"}<|call|>',
      'functions.note',
    ],
    [
      'gpt-oss with the recipient first',
      '<|start|>assistant to=functions.note<|channel|>commentary json<|message|>{"text":"a"}',
      'functions.note',
    ],
  ])('%s names its tool in a name space', (_, text, name) => {
    expect(read(text)).toEqual({ calls: [[name, { text: 'a' }]], rest: '', whole: true })
  })

  it.each([
    [
      'Hermes',
      '<tool_call>{"name":"note","arguments":{"text":"a"}}</tool_call>\n<tool_call>{"name":"look_up"}</tool_call>',
    ],
    [
      'in one mark',
      '<tool_call>{"name":"note","arguments":{"text":"a"}}\n{"name":"look_up","arguments":{}}</tool_call>',
    ],
    [
      'the first not closed',
      '<tool_call>{"name":"note","arguments":{"text":"a"}}\n<tool_call>{"name":"look_up"}</tool_call>',
    ],
    ['Llama', '<|python_tag|>{"name":"note","parameters":{"text":"a"}}; {"name":"look_up","parameters":{}}'],
    ['Mistral', '[TOOL_CALLS]note[ARGS]{"text":"a"}[TOOL_CALLS]look_up[ARGS]{}'],
    ['Python', "<|tool_call_start|>[note(text='a'), look_up()]<|tool_call_end|>"],
    ['Qwen3-Coder', '<function=note><parameter=text>a</parameter></function><function=look_up></function>'],
    ['Claude', '<invoke name="note"><parameter name="text">a</parameter></invoke><invoke name="look_up"></invoke>'],
    [
      'Kimi',
      '<|tool_call_begin|>note<|tool_call_argument_begin|>{"text":"a"}<|tool_call_end|><|tool_call_begin|>look_up<|tool_call_argument_begin|>{}<|tool_call_end|>',
    ],
    ['GLM', '<tool_call>note<arg_key>text</arg_key><arg_value>a</arg_value></tool_call><tool_call>look_up</tool_call>'],
  ])('two of %s', (_, text) => {
    expect(read(text)).toEqual({
      calls: [
        ['note', { text: 'a' }],
        ['look_up', {}],
      ],
      rest: '',
      whole: true,
    })
  })

  it('words beside calls are left', () => {
    const call = '<tool_call>{"name":"note","arguments":{}}</tool_call>'
    expect(read(`${call}\nI have noted it.`)).toMatchObject({ rest: 'I have noted it.' })
    const said = '<|channel|>commentary to=note<|message|>{}<|call|><|start|>assistant<|channel|>final<|message|>Done.'
    expect(read(said)).toMatchObject({ calls: [['note', {}]], rest: 'Done.' })
  })
})

describe('text-calls: arguments', () => {
  it.each([
    ['text', '5', '5'],
    ['text', '{"a":1}', '{"a":1}'],
    ['text', ' two\nlines ', ' two\nlines '],
    ['text', 'a < b > c', 'a < b > c'],
    ['count', '5', 5],
    ['count', 'five', 'five'],
    ['all', 'true', true],
    ['all', 'True', true],
    ['list', '["a", 1]', ['a', 1]],
    ['other', '{"a": null}', { a: null }],
    ['other', 'null', null],
    ['other', '12 apples', '12 apples'],
  ])('%s written as %j is %j', (key, written, value) => {
    for (const text of [
      `<function=note>\n<parameter=${key}>\n${written}\n</parameter>\n</function>`,
      `<invoke name="note"><parameter name="${key}">${written}</parameter></invoke>`,
      `<tool_call>functions.note\n<arg_key>${key}</arg_key>\n<arg_value>${written}</arg_value>\n</tool_call>`,
    ])
      expect(read(text).calls[0]?.[1]).toEqual({ [key]: value })
  })

  it.each([
    ['line ends in strings', '{"name":"note","arguments":{"text":"a\nb"}}', { text: 'a\nb' }],
    ['marks in strings', '{"name":"note","arguments":{"text":"} ] { \\" <b>"}}', { text: '} ] { " <b>' }],
    [
      'quotation marks of Python',
      `{'name': 'note', 'arguments': {'text': 'it\\'s "x"', 'all': False, 'list': None}}`,
      { text: 'it\'s "x"', all: false, list: null },
    ],
    ['JSON as text', '{"name":"note","arguments":"{}"}', '{}'],
    ['none', '{"name":"note"}', {}],
  ])('%s', (_, json, args) => {
    expect(read(`<tool_call>${json}</tool_call>`).calls).toEqual([['note', args]])
  })

  it('values of Python', () => {
    const text = `<|tool_call_start|>[note(text="a, (b) \\"c\\"", count=-5, all=True, list=['x', {'y': 1}])]<|tool_call_end|>`
    expect(read(text).calls).toEqual([['note', { text: 'a, (b) "c"', count: -5, all: true, list: ['x', { y: 1 }] }]])
  })
})

describe('text-calls: what cannot be read', () => {
  it.each([
    ['cut in its arguments', '<tool_call>{"name":"note","argum', 'note', '{"name":"note","argum'],
    [
      'no JSON',
      '<tool_call>{"name":"note","arguments":{text}}</tool_call>',
      'note',
      '{"name":"note","arguments":{text}}',
    ],
    ['no name', '<tool_call>{"arguments":{}}</tool_call>', '', '{"arguments":{}}'],
    ['nothing', '<tool_call>', '', '<tool_call>'],
    ['cut in its name', '<function=no', 'no', ''],
    ['Mistral, cut', '[TOOL_CALLS]note[ARGS]{"text": "a', 'note', 'note[ARGS]{"text": "a'],
    ['Kimi, cut', '<|tool_call_begin|>note<|tool_call_argument_begin|>{"te', 'note', '{"te'],
    ['gpt-oss, cut', '<|channel|>commentary to=note<|message|>{"te', 'note', '{"te'],
    ['gpt-oss without a tool', '<|channel|>commentary<|message|>{"text":"a"}<|end|>', '', '{"text":"a"}'],
    ['words in place of arguments', '<function=note>a</function>', 'note', 'a'],
  ])('%s is a call with its text', (_, text, name, args) => {
    const { calls, rest } = readCalls(text, TOOLS)
    const given = text === '<function=no' ? {} : args
    expect({ calls: calls.map((call) => [call.name, call.args]), rest }).toEqual({ calls: [[name, given]], rest: '' })
  })

  it.each(['</tool_call>', ']<]minimax[>[</tool_call>', '<|tool_call_end|>'])(
    'a lone closing mark is no call: %s',
    (text) => {
      expect(read(text)).toEqual({ calls: [], rest: '', whole: true })
    },
  )
})

describe('text-calls: a whole answer in JSON', () => {
  it.each([
    ['{"name":"note","arguments":{"text":"a"}}', 1],
    ['{"name": "note", "parameters": {"text": "a"}}', 1],
    ['{"type":"function","name":"functions.note","parameters":{}}', 1],
    ['{"type":"function","function":{"name":"note","arguments":"{}"}}', 1],
    ['[{"name":"note","arguments":{}},{"name":"look_up","arguments":{}}]', 2],
    ['{"name":"note","arguments":{}}\n{"name":"look_up","arguments":{}}', 2],
    ['{"name":"note","arguments":{}}\n</tool_call>', 1],
  ])('%s is %i', (text, count) => {
    expect(couldBeCalls(text)).toBe('yes')
    expect(readWholeCalls(text, TOOLS)).toHaveLength(count)
  })

  it.each([
    '{"name":"Ann","arguments":{}}',
    '{"name":"note"}',
    '{"name":"note","arguments":{},"age":3}',
    '{"name":"note","arguments":{}} is how you call it.',
    'I call {"name":"note","arguments":{}}',
    '[{"name":"note","arguments":{}},{"name":"Ann","arguments":{}}]',
    '{"arguments":{}}',
    '{"name":"note","arguments":{',
    '[]',
    '{}',
  ])('%s is none', (text) => {
    expect(readWholeCalls(text, TOOLS)).toBeUndefined()
  })

  it.each([
    ['{', 'undecided'],
    ['[ {', 'undecided'],
    ['{"na', 'undecided'],
    ['{"name"', 'undecided'],
    ['{"name":', 'yes'],
    ['{"nam":', 'no'],
    ['{"age', 'no'],
    ['[1', 'no'],
    ['[link](x)', 'no'],
    ['Hello', 'no'],
    [`{${' '.repeat(50)}`, 'no'],
  ])('%j could be one: %s', (text, answer) => {
    expect(couldBeCalls(text)).toBe(answer)
  })
})

describe('text-calls: texts that were made to cost', () => {
  const many = (unit: string) => unit.repeat(40_000 / unit.length)

  it.each([
    ['names without an end', many('<invoke name=')],
    ['parameters without an end', `<function=note>${many('<parameter=a')}`],
    ['quoted parameters without an end', `<invoke name="note">${many('<parameter name="a" ')}`],
    ['spaces in a name', `<invoke name=x${many(' ')}`.repeat(4)],
    ['line ends in front of a fence', `<tool_call>note${many('\n').repeat(4)}x</tool_call>`],
    ['spaces behind a name', `<tool_call>note${many(' ').repeat(4)}x</tool_call>`],
    ['quotation marks in a string without an end', `<tool_call>{"a":"${many('\\"').repeat(4)}}`],
    ['the same in the spelling of Python', `<tool_call>{'a':'${many("\\'").repeat(4)}}`],
  ])('%s: no call that could be read', (_name, text) => {
    expect(read(text).calls.filter(([, args]) => typeof args !== 'string')).toEqual([])
  })

  it('an argument is text by the word of its tag, and its name has no marks', () => {
    const said = '<invoke name="note"><parameter name="text" string="true">5</parameter><parameter=count>7</parameter>'
    expect(read(said).calls).toEqual([['note', { text: '5', count: 7 }]])
  })
})
