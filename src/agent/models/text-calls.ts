import type { ToolSpec } from '../../core/model.ts'
import { isRecord, parseArguments } from './tool-arguments.ts'
import { resolveName } from './tool-names.ts'

/** A call that a model has written as text. */
export interface TextCall {
  /** The name in the spelling of the model; '' where none could be read. */
  readonly name: string
  /** The text itself where it could not be read. */
  readonly args: unknown
  /** It could be read. */
  readonly whole: boolean
}

interface ReadCalls {
  readonly calls: readonly TextCall[]
  /** The words beside them. */
  readonly rest: string
}

/** A way to write calls: the pattern of one, and the calls in a match of it. */
interface Form {
  readonly pattern: RegExp
  read(groups: readonly string[], tools: readonly ToolSpec[]): readonly TextCall[] | undefined
}

const END = '<\\|(?:call|end|return|eom_id|eot_id|im_end)\\|>'

/**
 * Each form in which some model writes its calls. A closing mark may be missing at the end. Tools give the types of
 * arguments that are written as bare words.
 */
const FORMS: readonly Form[] = [
  {
    // gpt-oss. Words of a message that calls nothing are kept.
    pattern: new RegExp(
      `((?:<\\|(?:channel|constrain|start)\\|>[^<]{0,200}){1,4})(?:<\\|message\\|>([\\s\\S]*?)(?:${END}|(?=<\\|(?:start|channel)\\|>)|$)|$)`,
      'g',
    ),
    read: () => undefined,
  },
  {
    // Claude, MiniMax, DeepSeek (DSML).
    pattern: /<invoke\s+name=["']?([^"'<>]{0,200})["']?\s{0,9}>([\s\S]*?)(?:<\/invoke>|(?=<invoke\s)|$)/g,
    read: ([name = '', body = ''], tools) => [withParameters(name, body, tools)],
  },
  {
    // Qwen3-Coder; with JSON in it Llama 3.1 and what Groq reports.
    pattern: /<function(?:=|\s+name=)\s*["']?([^"'>\s{(]+)["']?\s*>?([\s\S]*?)(?:<\/function>|(?=<function[=\s])|$)/g,
    read: ([name = '', body = ''], tools) => [withParameters(name, body, tools)],
  },
  {
    // Kimi, DeepSeek.
    pattern:
      /<\|tool_call_begin\|>([\s\S]*?)(?:<\|tool_call_end\|>|(?=<\|tool_call_begin\|>)|<\|tool_calls[a-z_]*_end\|>|$)/g,
    read: ([body = '']) => [separated(body)],
  },
  {
    // Hermes, Qwen, GLM, Olmo.
    pattern:
      /<(tool_calls?|function_calls?|functioncall|tools)>([\s\S]*?)(?:<\/(?:tool_calls?|function_calls?|functioncall|tools)>|(?=<tool_call>)|$)/g,
    read: ([, body = ''], tools) => payload(body, tools),
  },
  {
    // Gemma 4, FunctionGemma, Granite, LFM2, Cohere, InternLM.
    pattern:
      /<(?:\|tool_calls?\|?|start_function_call|\|tool_call_start\||\|START_ACTION\||\|action_start\|)>([\s\S]*?)(?:<(?:tool_call\||end_function_call|\|\/?tool_calls?\||\|tool_call_end\||\|END_ACTION\||\|action_end\|)>|$)/g,
    read: ([body = ''], tools) => payload(body.replace('<|plugin|>', ''), tools),
  },
  {
    // Mistral, Llama.
    pattern: new RegExp(
      `(?:\\[TOOL_CALLS\\]|<\\|python_tag\\|>)([\\s\\S]*?)(?:(?=\\[TOOL_CALLS\\])|${END}|</s>|$)`,
      'g',
    ),
    read: ([body = ''], tools) => payload(body, tools),
  },
]

/** Marks that are left around calls, and results that a model has invented. */
const AROUND =
  /<\/?(?:tool_calls?|function_calls?|functioncall|invoke|function|parameter|tools)>|<\|\/?tool_calls?(?:_section)?(?:_begin|_end)?\|>|<tool_call\||<\|END_ACTION\|>|<\|(?:call|end|return)\|>|<\|tool_outputs?_begin\|>[\s\S]*?(?:<\|tool_outputs_end\|>|$)|<(tool_response|function_results?)>[\s\S]*?(?:<\/\1>|$)/g

/**
 * Reads the end of an answer, which begins with a mark of calls. Text that cannot be read becomes a call that has it as
 * its arguments, which the agent loop answers with an error that the model can read.
 */
export function readCalls(text: string, tools: readonly ToolSpec[]): ReadCalls {
  const spelled = inOneSpelling(text)
  let rest = spelled
  const calls: TextCall[] = []
  for (const [index, form] of FORMS.entries()) {
    rest = rest.replace(form.pattern, (...match: unknown[]) => {
      const [written = '', ...groups] = match.filter((part) => typeof part === 'string').slice(0, -1)
      if (index === 0) return readMessage(groups, calls)
      calls.push(...(form.read(groups, tools) ?? [unread(written, groups.at(-1) ?? '')]))
      return ''
    })
  }
  if (calls.length > 0 || !BEGUN.test(spelled)) return { calls, rest: rest.replace(AROUND, '') }
  return { calls: [unread(spelled, spelled)], rest: '' }
}

/** An opening mark, as distinct from the closing ones and the messages of gpt-oss. */
const BEGUN = /^\s*(?:<(?!\/|\|(?:start|channel|tool_calls?[a-z_]*_end)\|)|\[TOOL_CALLS\])/

/** Marks of several spellings, and tags with a name space. */
function inOneSpelling(text: string): string {
  return text
    .replaceAll(']<]minimax[>[', '')
    .replace(/<(\/?)(?:(?:minimax|atem|antml):|[|\uff5c\u2016]+DSML[|\uff5c\u2016]+)/g, '<$1')
    .replace(
      /<[|\uff5c]\s?(tool[\w\u2581 ]{0,40}?)\s?[|\uff5c]>/g,
      (_, name: string) => `<|${name.replace(/[\u2581 ]/g, '_')}|>`,
    )
}

/** Reads a message of gpt-oss. Returns its words where it is none that calls or thinks. */
function readMessage([headers = '', written]: readonly string[], calls: TextCall[]): string {
  const body = written ?? ''
  const [, name] = /\bto=([^\s<]+)/.exec(headers) ?? []
  const args = readJson(body)?.value
  const isCall = name !== undefined || (headers.includes('commentary') && isRecord(args))
  if (!isCall) return headers.includes('analysis') ? '' : body
  if (name !== undefined && isRecord(args)) calls.push({ name, args, whole: true })
  else if (name !== undefined && written?.trim() === '') calls.push({ name, args: {}, whole: true })
  else calls.push({ name: name ?? '', args: body.trim(), whole: false })
  return ''
}

function unread(written: string, body: string): TextCall {
  const [, name = ''] =
    /["']name["']\s*:\s*["']([^"']*)/.exec(written) ??
    /(?:function=|name=["']?|call:|\[TOOL_CALLS\]\s*)([\w.-]+)/.exec(written) ??
    /^\s*([\w.-]+)\s*(?:[({\n[]|<arg_key>)/.exec(body) ??
    []
  return { name, args: body.trim(), whole: false }
}

/** `NAME<|tool_sep|>{…}`, `function<|tool_sep|>NAME` with the arguments in a block, `functions.NAME:0<|…|>{…}`. */
function separated(body: string): TextCall {
  const [head = '', ...tail] = body.split(/<\|(?:tool_sep|tool_call_argument_begin)\|>/)
  const text = tail.join('').trim()
  const [, called, block] = /^([\w.:-]+)\s*```(?:json)?\s*([\s\S]*?)(?:```|$)/.exec(text) ?? []
  const name = (called ?? head).trim()
  const args = readJson(block ?? text)?.value
  if (isRecord(args)) return { name, args, whole: true }
  return { name, args: (block ?? text).trim(), whole: false }
}

/** Reads what stands between the marks of calls. */
function payload(body: string, tools: readonly ToolSpec[]): readonly TextCall[] | undefined {
  if (body.replace(AROUND, '').trim() === '') return []
  const plain = withoutFence(body)
  return readJsonCalls(plain) ?? readNamed(plain, tools) ?? pythonCalls(plain)
}

function withoutFence(body: string): string {
  const begun = body.replace(/^\s*```\w*[ \t]*\n/, '')
  const words = begun.trimEnd()
  const line = words.slice(0, -FENCE.length)
  return words.endsWith(FENCE) && /\n\s*$/.test(line.slice(line.trimEnd().length)) ? line.trimEnd() : begun
}

const FENCE = '```'

function pythonCalls(body: string): readonly TextCall[] | undefined {
  return readPythonCalls(body)?.map(({ name, args }) => ({
    ...{ name: name.replace(/\.call$/, ''), args },
    whole: true,
  }))
}

/** `NAME[ARGS]{…}`, `NAME{…}`, `call:NAME{…}`, each any number of times, and `NAME<arg_key>…` once. */
function readNamed(body: string, tools: readonly ToolSpec[]): readonly TextCall[] | undefined {
  const [glm, glmName = '', pairs = ''] = /^\s*([\w.:-]+)\s*((?:<arg_key>[\s\S]*)?)$/.exec(body) ?? []
  if (glm !== undefined) return readPairs(glmName, pairs, tools)
  const calls: TextCall[] = []
  for (let left = body.trim(); left !== ''; ) {
    const [head, name = ''] =
      /^[\s;,]*(?:call:)?([\w.:/-]+)\s*(?:\[CALL_ID\][^[{]*)?(?:\[ARGS\]\s*)?(?=\{)/.exec(left) ?? []
    if (head === undefined) return undefined
    const read = readJson(left.slice(head.length))
    if (!isRecord(read?.value)) return undefined
    calls.push({ name, args: read.value, whole: true })
    left = left.slice(head.length + read.end).trim()
  }
  return calls.length === 0 ? undefined : calls
}

function readPairs(name: string, pairs: string, tools: readonly ToolSpec[]): readonly TextCall[] {
  const found = [
    ...pairs.matchAll(/<arg_key>([^<]*)<\/arg_key>\s*<arg_value>([\s\S]*?)(?:<\/arg_value>|(?=<arg_key>)|$)/g),
  ]
  const args = found.map(([, key = '', value = '']) => [key.trim(), typed(value, schemaOf(name, key.trim(), tools))])
  const whole = pairs.trim() === '' || found.length > 0
  return [{ name, args: whole ? Object.fromEntries(args) : pairs, whole }]
}

/** Arguments as tags: `<parameter=x>`, `<parameter name="x">` or, of MiniMax, `<x>`; JSON where there is no tag. */
function withParameters(name: string, body: string, tools: readonly ToolSpec[]): TextCall {
  const called = name.trim()
  const tags = [
    ...body.matchAll(/<parameter(?:=|\s+name=)["']?([^"'<>][^<>]*)>([\s\S]*?)(?:<\/parameter>|(?=<parameter[=\s])|$)/g),
  ].map(([, tag = '', value = '']) => {
    const [key = ''] = tag.split(/["']/, 1)
    return { key: key.trim(), value, isText: tag.includes('string="true"') }
  })
  const all = tags.length > 0 ? tags : plainTags(body)
  const inside = body.replace(/<\/?tool_calls?>|<\/function_calls>/g, '').trim()
  if (all.length === 0 && inside !== '') {
    const args = readJson(inside.replace(/^>/, ''))?.value
    return isRecord(args) ? { name: called, args, whole: true } : { name: called, args: inside, whole: false }
  }
  const args = all.map(({ key, value, isText }) => [
    key,
    isText ? inLines(value) : typed(value, schemaOf(called, key, tools)),
  ])
  return { name: called, args: Object.fromEntries(args), whole: true }
}

function plainTags(body: string): { readonly key: string; readonly value: string; readonly isText: boolean }[] {
  const tags: ReturnType<typeof plainTags> = []
  const pattern = /<([\w.-]{1,64})>/g
  for (let found = pattern.exec(body); found !== null; found = pattern.exec(body)) {
    const [, key = ''] = found
    const end = body.indexOf(`</${key}>`, pattern.lastIndex)
    if (end < 0) return []
    tags.push({ key, value: body.slice(pattern.lastIndex, end), isText: false })
    pattern.lastIndex = end
  }
  return tags
}

function schemaOf(name: string, key: string, tools: readonly ToolSpec[]): unknown {
  const known = resolveName(name, tools)
  const properties = tools.find((tool) => tool.name === known)?.parameters.properties
  const schema = isRecord(properties) ? properties[key] : undefined
  return isRecord(schema) ? schema.type : undefined
}

/** Returns a value that was written without quotation marks, by the type that the tool gives it. */
function typed(written: string, type: unknown): unknown {
  const text = inLines(written)
  if (type === 'string') return text
  const word = /^(?:True|False|None)$/.test(text) ? text.toLowerCase().replace('none', 'null') : text.trim()
  const isValue = /^(?:[[{]|-?\d|(?:true|false|null)$)/.test(word)
  return isValue ? (readJson(word, true)?.value ?? parseArguments(word)) : text
}

/** Without the line ends that the marks stand in. */
function inLines(text: string): string {
  return text.replace(/^\r?\n/, '').replace(/\r?\n$/, '')
}

/** Reads calls as objects of JSON, one after the other or in a list; undefined if there is anything else. */
function readJsonCalls(text: string): readonly TextCall[] | undefined {
  const calls: TextCall[] = []
  for (let left = text.trim(); left !== ''; ) {
    const read = readJson(left)
    if (read === undefined) return undefined
    for (const value of Array.isArray(read.value) ? read.value : [read.value]) {
      const call = callOf(value)
      if (call === undefined) return undefined
      calls.push(call)
    }
    left = left.slice(read.end).replace(/^[\s;,}]+/, '')
  }
  return calls.length === 0 ? undefined : calls
}

function callOf(value: unknown): TextCall | undefined {
  if (!isRecord(value)) return undefined
  const inner = isRecord(value.function) ? value.function : value
  const name = [inner.name, inner.tool_name, value.function, inner.tool].find((one) => typeof one === 'string')
  const args = inner.arguments ?? inner.parameters ?? inner.args ?? {}
  return typeof name === 'string' ? { name, args, whole: true } : undefined
}

const KEYS = ['name', 'arguments', 'parameters', 'function', 'type', 'id'] as const

/** Says if an answer that begins so could be nothing but calls in JSON. */
export function couldBeCalls(text: string): 'yes' | 'no' | 'undecided' {
  const [begun, key = '', behind] = /^\[?\s*(?:\{\s*(?:"(\w*)("?\s*:?))?)?/.exec(text) ?? ['']
  const keys = KEYS.filter((known) => (behind ? known === key : known.startsWith(key)))
  if (begun === '' || keys.length === 0) return 'no'
  if (behind?.endsWith(':')) return 'yes'
  return begun.length === text.length && text.length < LONGEST_BEGINNING ? 'undecided' : 'no'
}

const LONGEST_BEGINNING = 40

/**
 * Reads a whole answer that is nothing but calls in JSON, each of an offered tool and with nothing beside its name and
 * its arguments; undefined for any other answer.
 */
export function readWholeCalls(text: string, tools: readonly ToolSpec[]): readonly TextCall[] | undefined {
  const plain = text.replace(/<\/tool_call>\s*$/, '').trim()
  const calls = readJsonCalls(plain)
  const values = calls === undefined ? [] : [readJson(plain)?.value].flat()
  const isPlain = values.every((value) => isRecord(value) && isCallAlone(value))
  const offered = calls?.every(({ name }) => tools.some((tool) => tool.name === resolveName(name, tools)))
  return isPlain && offered ? calls : undefined
}

function isCallAlone(value: Record<string, unknown>): boolean {
  const inner = isRecord(value.function) ? value.function : value
  const known: readonly string[] = KEYS
  return Object.keys(value).every((key) => known.includes(key)) && ('arguments' in inner || 'parameters' in inner)
}

/** A value that was read, and the offset behind it. */
interface LooseValue {
  readonly value: unknown
  readonly end: number
}

/**
 * Reads an object or a list at the start of a text, also as models write them: with line ends in strings, in the
 * spelling of Python, with the string marks of Gemma. Undefined for anything else. `alone`: nothing may follow it.
 */
export function readJson(text: string, alone = false): LooseValue | undefined {
  const start = text.length - text.trimStart().length
  const end = endOfValue(text, start)
  if (end === undefined || (alone && text.slice(end).trim() !== '')) return undefined
  const written = text.slice(start, end)
  for (const spell of [(json: string) => json, withoutLineEnds, fromGemma, fromPython]) {
    const value = parseArguments(spell(written))
    if (typeof value === 'object' && value !== null) return { value, end }
  }
  return undefined
}

/** Returns the offset behind the bracket that closes the one at an offset. */
function endOfValue(text: string, start: number): number | undefined {
  if (!/[[{]/.test(text.charAt(start))) return undefined
  return balanced(text, start, STRINGS) ?? balanced(text, start, PYTHON_STRINGS)
}

/** A string that has no end goes to that of the text, so that nothing is looked through from each of its marks. */
const STRINGS = /<\|"\|>[\s\S]*?<\|"\|>|<escape>[\s\S]*?<escape>|"(?:[^"\\]|\\[\s\S]?)*(?:"|$)|[[\]{}]/g
const PYTHON_STRINGS = /"(?:[^"\\]|\\[\s\S]?)*(?:"|$)|'(?:[^'\\]|\\[\s\S]?)*(?:'|$)|[[\]{}]/g

function balanced(text: string, start: number, marks: RegExp): number | undefined {
  let depth = 0
  marks.lastIndex = start
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    const [mark] = found
    if (mark === '[' || mark === '{') depth++
    if (mark === ']' || mark === '}') depth--
    if (depth === 0) return found.index + mark.length
  }
  return undefined
}

function withoutLineEnds(json: string): string {
  const escaped: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }
  return json.replace(/"(?:[^"\\]|\\[\s\S]?)*(?:"|$)/g, (string) =>
    string.replace(/[\n\r\t]/g, (end) => escaped[end] ?? end),
  )
}

/** `{k:<|"|>v<|"|>}` and `{k:<escape>v<escape>}`. */
function fromGemma(text: string): string {
  return text
    .split(/(<\|"\|>[\s\S]*?<\|"\|>|<escape>[\s\S]*?<escape>)/)
    .map((part, index) =>
      index % 2 === 1
        ? JSON.stringify(part.replace(/^<(?:\|"\||escape)>|<(?:\|"\||escape)>$/g, ''))
        : part.replace(/([{,]\s*)([A-Za-z_][\w.-]*)\s*:/g, '$1"$2":'),
    )
    .join('')
}

function fromPython(text: string): string {
  return text
    .split(/("(?:[^"\\]|\\[\s\S]?)*(?:"|$)|'(?:[^'\\]|\\[\s\S]?)*(?:'|$))/)
    .map((part, index) => (index % 2 === 1 ? pythonString(part) : pythonWords(part)))
    .join('')
}

function pythonWords(text: string): string {
  return text
    .replace(/\bTrue\b/g, 'true')
    .replace(/\bFalse\b/g, 'false')
    .replace(/\bNone\b/g, 'null')
    .replace(/,(\s*[}\]])/g, '$1')
}

/** Returns a string of Python as one of JSON. */
function pythonString(written: string): string {
  const inside = written.slice(1, -1).replace(/\\'/g, "'")
  return withoutLineEnds(`"${written.startsWith('"') ? inside : inside.replace(/(?<!\\)"/g, '\\"')}"`)
}

interface PythonCall {
  readonly name: string
  readonly args: Record<string, unknown>
}

const CALLED = /[\s,;[]*([A-Za-z_][\w.]*)\s*\(/y
const ARGUMENT = /[\s,]*([A-Za-z_]\w*)\s*=\s*/y
const SIMPLE = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|-?\d+(?:\.\d+)?|True|False|None|true|false|null/y

/** Reads `[name(key="value"), other()]`, with or without the brackets; undefined where anything else stands. */
function readPythonCalls(text: string): readonly PythonCall[] | undefined {
  const calls: PythonCall[] = []
  let at = 0
  while (/\w/.test(text.slice(at))) {
    const [head, name = ''] = matchAt(CALLED, text, at) ?? []
    const read = head === undefined ? undefined : readKeywords(text, at + head.length)
    if (read === undefined) return undefined
    calls.push({ name, args: read.args })
    at = read.end
  }
  return calls.length > 0 && /^[\s\],;]*$/.test(text.slice(at)) ? calls : undefined
}

function readKeywords(
  text: string,
  start: number,
): { readonly args: PythonCall['args']; readonly end: number } | undefined {
  const args: Record<string, unknown> = {}
  for (let at = start; ; ) {
    const [close] = matchAt(/[\s,]*\)/y, text, at) ?? []
    if (close !== undefined) return { args, end: at + close.length }
    const [head, key = ''] = matchAt(ARGUMENT, text, at) ?? []
    if (head === undefined) return undefined
    at += head.length
    const [simple] = matchAt(SIMPLE, text, at) ?? []
    const read = simple === undefined ? readJson(text.slice(at)) : readSimple(simple)
    if (read === undefined) return undefined
    args[key] = read.value
    at += read.end
  }
}

function readSimple(written: string): LooseValue | undefined {
  const read = readJsonList(`[${fromPython(written)}]`)
  return read === undefined ? undefined : { value: read[0], end: written.length }
}

function readJsonList(json: string): readonly unknown[] | undefined {
  const list = parseArguments(json)
  return Array.isArray(list) ? list : undefined
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
