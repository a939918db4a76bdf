import { text } from 'node:stream/consumers'
import { htmlToMarkdown } from './html-to-markdown.ts'
import { plainPage } from './plain-text.ts'
import { feedToMarkdown } from './read-feed.ts'

// The program of a process: it converts the page of its input, whose first line is the address of the page, and writes
// a line each for the title, for where the page leads on to, and for what is missing of it, and the Markdown behind.
const [, , longest, form] = process.argv
const CONVERTERS = { page: htmlToMarkdown, feed: feedToMarkdown, plain: plainPage }
const input = await text(process.stdin)
const end = input.indexOf('\n')
const convert = form === 'feed' || form === 'plain' ? CONVERTERS[form] : CONVERTERS.page
const { title = '', markdown, refresh, missing = '' } = convert(input.slice(end + 1), input.slice(0, end))
const leadsOn = refresh === undefined ? '' : `${refresh.seconds} ${refresh.url}`
process.stdout.write(`${title}\n${leadsOn}\n${missing}\n${markdown.slice(0, Number(longest))}`)
