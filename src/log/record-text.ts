/** `ignoreBOM` keeps a byte order mark as the character it is: bytes are compared and parsed as they are, or refused. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text, if it is well-formed: bytes that are UTF-8, or a string without lone surrogates; else `undefined`. */
export function wellFormedText(content: string | Uint8Array): string | undefined {
  if (typeof content === 'string') return content.isWellFormed() ? content : undefined;
  try {
    return utf8.decode(content);
  } catch {
    return undefined;
  }
}

/** Whether the content is longer than `bytesMax` bytes as UTF-8. */
export function isLongerThan(bytesMax: number, content: string | Uint8Array): boolean {
  if (typeof content !== 'string') return content.byteLength > bytesMax;
  // A UTF-16 unit is one to three bytes, so that most texts need no counting.
  if (content.length > bytesMax) return true;
  return content.length * 3 > bytesMax && utf8Length(content) > bytesMax;
}

function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // The two halves of a surrogate pair make four bytes together.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
