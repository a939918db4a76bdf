/** The parts of a node that are used here: the library brings a document of its own, which has no types. */
export interface PageNode {
  readonly nodeType: number
  readonly nodeName: string
  /** The words of a text. No element is asked for it: the library would list its nodes, and change them slowly then. */
  readonly textContent: string | null
  readonly parentNode: PageElement | null
  readonly firstChild: PageNode | null
  readonly nextSibling: PageNode | null
  readonly previousSibling: PageNode | null
}

export interface PageElement extends PageNode {
  readonly children: ArrayLike<PageElement>
  readonly ownerDocument: PageDocument
  /** The nodes in a template, which are no children of it. */
  readonly content?: PageNode
  innerHTML: string
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  getElementsByTagName(name: string): ArrayLike<PageElement>
  appendChild(node: PageNode): void
  insertBefore(node: PageNode, before: PageNode | null): void
  removeChild(node: PageNode): void
  replaceChild(node: PageNode, old: PageNode): void
}

export interface PageDocument {
  readonly documentElement: PageElement
  createElement(name: string): PageElement
  createTextNode(text: string): PageNode
  getElementsByTagName(name: string): ArrayLike<PageElement>
}

/** An element whose text goes into the Markdown as it is. */
export const RAW = 'X-RAW'
/** The name that `noscript` has here, for the library reads its content as text where scripts could run. */
export const NO_SCRIPT = 'X-NOSCRIPT'

/** Returns a page whose `noscript` elements have the name that they have here. */
export function withNoScript(html: string): string {
  return html.replace(/<(\/?)noscript(?=[\s/>])/gi, '<$1x-noscript')
}

export const ELEMENT = 1
export const TEXT = 3

/** Returns the node behind a node and all that is in it. */
export function pastNode(node: PageNode, root: PageElement): PageNode | null {
  for (let at: PageNode | null = node; at !== null && at !== root; at = at.parentNode)
    if (at.nextSibling !== null) return at.nextSibling
  return null
}

export function renamed(element: PageElement, name: string): PageElement {
  const other = element.ownerDocument.createElement(name)
  for (const attribute of ['class', 'id', 'aria-expanded']) {
    const value = element.getAttribute(attribute)
    if (value !== null) other.setAttribute(attribute, value)
  }
  while (element.firstChild !== null) other.appendChild(element.firstChild)
  replace(element, other)
  return other
}

export function raw(element: PageElement, text: string): undefined {
  const other = element.ownerDocument.createElement(RAW)
  other.appendChild(element.ownerDocument.createTextNode(text))
  replace(element, other)
}

export function asText(element: PageElement, text: string): undefined {
  replace(element, element.ownerDocument.createTextNode(text))
}

export function replace(element: PageElement, other: PageNode): void {
  element.parentNode?.replaceChild(other, element)
}

export function remove(element: PageElement): undefined {
  element.parentNode?.removeChild(element)
}

export function isWithin(element: PageElement, names: readonly string[]): boolean {
  for (let at = element.parentNode; at !== null; at = at.parentNode) if (names.includes(nameOf(at))) return true
  return false
}

/** Returns the text of all that is in a node. */
export function textOf(root: PageNode): string {
  if (root.nodeType !== ELEMENT) return root.nodeType === TEXT ? (root.textContent ?? '') : ''
  const parts: string[] = []
  for (let node = root.firstChild; node !== null; node = node.firstChild ?? pastNode(node, root as PageElement))
    if (node.nodeType === TEXT) parts.push(node.textContent ?? '')
  return parts.join('')
}

export function elementsIn(root: Pick<PageElement, 'getElementsByTagName'>, name: string): readonly PageElement[] {
  return Array.from(root.getElementsByTagName(name))
}

export function roleOf(element: PageElement): string {
  return element.getAttribute('role')?.trim().toLowerCase() ?? ''
}

/** Elements of drawings and formulas have small letters. */
export function nameOf(node: Pick<PageNode, 'nodeName'>): string {
  return node.nodeName.toUpperCase()
}

export function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
