/** Every decimal of this many digits comes back unchanged from a double. */
const exactDigitsMax = 15;

/** The exact decimal sum of two numbers, or `undefined` where it is not one a double keeps. */
export function addExact(a: number, b: number): number | undefined {
  const sum = new ExactSum();
  sum.add(a);
  sum.add(b);
  return sum.value;
}

/**
 * Sums doubles as the decimals they are written as (0.1 is one tenth), so that the sum does not depend on the order and
 * taking an amount out again leaves nothing behind.
 */
export class ExactSum {
  /** The sum is `#integer` + `#digits` × 10^`#exponent`. */
  #integer = 0;
  #digits = 0n;
  #exponent = 0;

  /** `amount` is finite. */
  add(amount: number): void {
    const sum = this.#integer + amount;
    if (Number.isSafeInteger(amount) && Number.isSafeInteger(sum)) this.#integer = sum;
    else this.#addDecimal(decimalOf(amount));
  }

  /** The sum if it is a safe integer or has at most 15 digits, else `undefined`. */
  get value(): number | undefined {
    if (this.#digits === 0n) return this.#integer;
    const whole = new ExactSum();
    whole.#digits = this.#digits;
    whole.#exponent = this.#exponent;
    whole.#addDecimal({ digits: BigInt(this.#integer), exponent: 0 });
    return whole.#asNumber();
  }

  #addDecimal({ digits, exponent }: Decimal): void {
    const common = Math.min(this.#exponent, exponent);
    this.#digits = scaled(this.#digits, this.#exponent - common) + scaled(digits, exponent - common);
    this.#exponent = common;
  }

  #asNumber(): number | undefined {
    if (this.#digits === 0n) return 0;
    const text = this.#digits.toString();
    const significant = text.replace(/0+$/, '');
    const exponent = this.#exponent + text.length - significant.length;
    const value = Number(`${significant}e${exponent}`);
    if (exponent >= 0) return Number.isSafeInteger(value) ? value : undefined;
    const digits = significant.startsWith('-') ? significant.length - 1 : significant.length;
    if (digits > exactDigitsMax) return undefined;
    // Numbers near the smallest double have fewer digits than that.
    const kept = decimalOf(value);
    return kept.digits.toString() === significant && kept.exponent === exponent ? value : undefined;
  }
}

/** `digits` × 10^`exponent`. */
type Decimal = { readonly digits: bigint; readonly exponent: number };

/** The decimal a number is written as: the shortest text that reads back as the same double. */
function decimalOf(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

function scaled(digits: bigint, by: number): bigint {
  return by === 0 ? digits : digits * 10n ** BigInt(by);
}
