import { text } from 'node:stream/consumers'
import { htmlToMarkdown } from './html-to-markdown.ts'
import { plainPage } from './plain-text.ts'

// The program of a process: it converts the page of its input, whose first line is the address of the page, and writes
// the title as a line and the Markdown behind it.
const [, , longest, form] = process.argv
const input = await text(process.stdin)
const end = input.indexOf('\n')
const html = input.slice(end + 1)
const { title = '', markdown } = form === 'plain' ? plainPage(html) : htmlToMarkdown(html, input.slice(0, end))
process.stdout.write(`${title}\n${markdown.slice(0, Number(longest))}`)
