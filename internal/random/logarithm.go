package random

import (
	"math"
	"math/bits"
)

// Fixed point. A number in units of 2^-63 is below 2, one in units of 2^-64 below 1. A
// logarithm in units of 2^-57 is at most 64. All sums and products are of integers, and
// products are rounded down: results are the same on every processor.
const (
	logBits = 57
	one     = 1 << 63

	log2e = 0xb8aa3b295c17f0bb // of 2^-63, rounded down
	ln2   = 0xb17217f7d1cf79ab // of 2^-64, rounded down
)

// mulHigh returns a·b in units of 2^-64, rounded down: the product of a number and
// one below 1.
func mulHigh(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi
}

// minusLog2 returns −log2(x/2^64) in units of 2^-57, where x = 0 stands for 2^64. It
// never rises with x. It is exact for powers of two, and otherwise too large by
// less than 2^-56.
//
// Shifting the leading bit of x to the top gives x = 2^k·m with 1 <= m < 2. Let m =
// a·(1+r), where a is 1 + i/256 and r < 1/256. So log2 m is log2 a, from a table, plus
// log2(1+r), computed from six terms of its series. The last term is negative, so log2
// m is too small, by less than r^7·log2(e)/7 < 2^-58 and the rounding. Because it is
// too small, it does not fall from one a to the next. Within an a, p falls by at most 2
// units when r rises by one, and (r+1)·(p−2) is above r·p.
func minusLog2(x uint64) uint64 {
	if x == 0 {
		return 0
	}
	zeros := bits.LeadingZeros64(x)
	m := x << zeros
	i := m >> 55 & 255
	r := m << 9 / (256 + i) // of 2^-64
	p := log2e/5 - mulHigh(r, log2e/6)
	p = log2e/4 - mulHigh(r, p)
	p = log2e/3 - mulHigh(r, p)
	p = log2e/2 - mulHigh(r, p)
	p = log2e - mulHigh(r, p)
	return uint64(zeros+1)<<logBits - (log2Table[i]+mulHigh(r, p))>>(63-logBits)
}

// inverseFactorials are 1/n! in units of 2^-63, from n = 1.
var inverseFactorials = [...]uint64{
	one, one / 2, one / 6, one / 24, one / 120, one / 720, one / 5040, one / 40320, one / 362880,
	one / 3628800, one / 39916800, one / 479001600, one / 6227020800, one / 87178291200,
	one / 1307674368000, one / 20922789888000, one / 355687428096000,
}

// power2 returns 2^f in units of 2^-63 for 0 <= f < 1 in units of 2^-64, by the
// series of the exponential function. It never falls with f. It is exact for 0, and
// otherwise too small by less than 2^-60.
func power2(f uint64) uint64 {
	t := mulHigh(f, ln2) // of 2^-64
	sum := uint64(0)
	for n := len(inverseFactorials) - 1; n >= 0; n-- {
		sum = inverseFactorials[n] + mulHigh(t, sum)
	}
	return one + mulHigh(t, sum)
}

// reciprocal returns 1/v in units of 2^-64, rounded down, for v > 1.
func reciprocal(v float64) uint64 {
	fraction, exponent := math.Frexp(v)
	whole := uint64(math.Ldexp(fraction, 64)) // v is whole·2^(exponent-64), whole >= 2^63
	quotient, _ := bits.Div64(one-1, math.MaxUint64, whole)
	return quotient >> (exponent - 1)
}

// log2Table holds log2(1 + i/256) in units of 2^-63, rounded down.
var log2Table = [256]uint64{
	0x0000000000000000, 0x00b84e236bd563ba, 0x016fe50b6ef08517, 0x0226c622f52f6189,
	0x02dcf2d0b85a4531, 0x03926c7750a1f0cc, 0x0447347544cd04bb, 0x04fb4c251a168988,
	0x05aeb4dd63bf61cc, 0x06616ff0d2546518, 0x07137eae42aad7bd, 0x07c4e260cc94e7e8,
	0x08759c4fd14fcd59, 0x0925adbf09ad1e44, 0x09d517ee93f8e16c, 0x0a83dc1b019ddb6a,
	0x0b31fb7d64898b3e, 0x0bdf774b5c51409e, 0x0c8c50b72319ad57, 0x0d3888ef9a4249f5,
	0x0de4212056d5dd31, 0x0e8f1a71adc16d26, 0x0f397608bfd2d90e, 0x0fe3350785805248,
	0x108c588cda79e396, 0x1134e1b489062dff, 0x11dcd197552b7b5e, 0x1284294b07a63f8d,
	0x132ae9e278ae1a1f, 0x13d1146d9a8a63f0, 0x1476a9f983f74d31, 0x151bab907a5c8a48,
	0x15c01a39fbd6879f, 0x1663f6fac913167c, 0x170742d4ef027f29, 0x17a9fec7d05ddef1,
	0x184c2bd02f03b2fd, 0x18edcae8352b6bb5, 0x198edd077e70df02, 0x1a2f632320b86aca,
	0x1acf5e2db4ec93ef, 0x1b6ecf175f95e96b, 0x1c0db6cdd94dee40, 0x1cac163c770dc896,
	0x1d49ee4c32596fc8, 0x1de73fe3b1480ee1, 0x1e840be74e6a4cc7, 0x1f205339208f2747,
	0x1fbc16b902680a23, 0x205757449a0cc776, 0x20f215b7606012de, 0x218c52eaa8551d49,
	0x22260fb5a616eb96, 0x22bf4ced7611feb2, 0x23580b6523e0e0a5, 0x23f04bedb11c2657,
	0x24880f561c0e7304, 0x251f566b664d06c6, 0x25b621f89b355ede, 0x264c72c6d6506b35,
	0x26e2499d499bd9b3, 0x2777a74143b9f52b, 0x280c8c76360892eb, 0x28a0f9fdba9f8729,
	0x2934f0979a3715fc, 0x29c87101d1f6d3f7, 0x2a5b7bf8992d66fb, 0x2aee123666f19562,
	0x2b803473f7ad0f3f, 0x2c11e36852915b2d, 0x2ca31fc8cef74dca, 0x2d33ea4919a970d1,
	0x2dc4439b3a19bcaf, 0x2e542c6f97830528, 0x2ee3a574fdf677c8, 0x2f72af58a35588ae,
	0x30014ac62c38a865, 0x308f7867b0c31b8f, 0x311d38e5c1644b49, 0x31aa8ce76b86e356,
	0x323775123e2e1169, 0x32c3f20a4e813719, 0x335004723c465e69, 0x33dbaceb364bbf11,
	0x3466ec14fec0a13a, 0x34f1c28def7de8a5, 0x357c30f2fe3e91c3, 0x360637dfc0c868cc,
	0x368fd7ee71054148, 0x371911b7f10cf32e, 0x37a1e5d3cf206156, 0x382a54d84995cb80,
	0x38b25f5a52b6acfc, 0x393a05ed948f67a6, 0x39c1492474b0f992, 0x3a48299017e4faa4,
	0x3acea7c065d41dfc, 0x3b54c4440c9f7202, 0x3bda7fa8846c989d, 0x3c5fda7a12e5301b,
	0x3ce4d543cea9a418, 0x3d69708fa2b79ca7, 0x3dedace651c440fa, 0x3e718acf798a81a1,
	0x3ef50ad1960d9d9c, 0x3f782d7204d01447, 0x3ffaf33507ff3573, 0x407d5c9dc9937fc8,
	0x40ff6a2e5e65fcce, 0x41811c67c93ac8fa, 0x420273c9fdc0f549, 0x428370d3e387ef00,
	0x4304140358ea9962, 0x43845dd535f0444e, 0x44044ec54f23a9ec, 0x4483e74e78601cb5,
	0x450327ea87950e78, 0x458211125780181e, 0x4600a33dca5da93a, 0x467edee3cc9085c5,
	0x46fcc47a5740378e, 0x477a547672ee9861, 0x47f78f4c3a049909, 0x4874756edb5668c5,
	0x48f107509c9f2020, 0x496d4562dcf4115a, 0x49e93016172fe015, 0x4a64c7d9e4558147,
	0x4ae00d1cfdeb43cf, 0x4b5b004d404e0192, 0x4bd5a1d7acfc9850, 0x4c4ff2286cdbc8e7,
	0x4cc9f1aad2729b21, 0x4d43a0c95c1f63a1, 0x4dbcffedb6458901, 0x4e360f80bd7424a0,
	0x4eaecfea80859b33, 0x4f27419242b8488b, 0x4f9f64de7dc059ab, 0x50173a34e3d2efaf,
	0x508ec1fa61aaa59c, 0x5105fc93208592b6, 0x517cea62881ce293, 0x51f38bcb40961b8d,
	0x5269e12f346e2bf9, 0x52dfeaef925e55f1, 0x5355a96ccf3b1129, 0x53cb1d06a7ccf9dd,
	0x5440461c22a3e377, 0x54b5250b91e4253b, 0x5529ba32950e36c6, 0x559e05ee1ac0b1ec,
	0x5612089a6274cf0e, 0x5685c292fe3570af, 0x56f93432d450d2ab, 0x576c5dd42104f127,
	0x57df3fd07826bae3, 0x5851da80c6c42267, 0x58c42e3d54c12101, 0x59363b5dc66fbe61,
	0x59a802391e232f34, 0x5a198325bdbe1cde, 0x5a8abe79683c2820, 0x5afbb4894336b82e,
	0x5b6c65a9d8652765, 0x5bdcd22f17185e9a, 0x5c4cfa6c55b1ef94, 0x5cbcdeb45316bf2e,
	0x5d2c7f59381d4f1b, 0x5d9bdcac98f7b737, 0x5e0af6ff76995def, 0x5e79cea240187f13,
	0x5ee863e4d40b9027, 0x5f56b71681e29101, 0x5fc4c8860b3c5744, 0x60329881a537e324,
	0x60a02756f9c1cb6f, 0x610d755328ddcedf, 0x617a82c2c9ec9842, 0x61e74ff1ecedc2f9,
	0x6253dd2c1bbe2d01, 0x62c02abc5b52a385, 0x632c38ed2ceef6cd, 0x639808088f59821f,
	0x64039858000b33f9, 0x646eea247c5c22d2, 0x64d9fdb682acba73, 0x6544d356138b8d9d,
	0x65af6b4ab2d7d7bf, 0x6619c5db68e0ba15, 0x6683e34ec3813f7a, 0x66edc3ead7393210,
	0x675767f54042cd99, 0x67c0cfb323a55947, 0x6829fb693044b398, 0x6892eb5b9feddaab,
	0x68fb9fce38607b41, 0x696419044c559097, 0x69cc5740bc831ef5, 0x6a345ac5f89d12ca,
	0x6a9c23d600534df3, 0x6b03b2b2644ceca0, 0x6b6b079c4720cb45, 0x6bd222d45e4b56ad,
	0x6c39049af321af5e, 0x6c9fad2fe3c2291b, 0x6d061cd2a4022f65, 0x6d6c53c23e59979a,
	0x6dd2523d54cb692d, 0x6e38188221cc2474, 0x6e9da6ce7925903b, 0x6f02fd5fc8d81647,
	0x6f681c7319f9b6d4, 0x6fcd044511929af3, 0x7031b511f1774d8b, 0x70962f159920a2ad,
	0x70fa728b868154cd, 0x715e7faed6d95f44, 0x71c256ba47871d82, 0x7225f7e836d6361c,
	0x72896372a4cc58d7, 0x72ec999333f3d6bb, 0x734f9a832a241b09, 0x73b2667b71480bf5,
	0x7414fdb4982259cc, 0x74776066d30fc324, 0x74d98ec9fcc754a5, 0x753b89159718aacb,
	0x759d4f80cba83bf8, 0x75fee2426ca9b11e, 0x76604190f598530f, 0x76c16da28bed929e,
	0x772266acffd5b179, 0x77832ce5cce2919a, 0x77e3c0821abcb12f, 0x784421b6bdd258a7,
	0x78a450b83805007e, 0x79044dbab954f46b, 0x796418f2208b3958, 0x79c3b291fbe1bb98,
	0x7a231acd89a9caa8, 0x7a8251d7b8f0e7b8, 0x7ae157e32a23ec35, 0x7b402d222fb08d5c,
	0x7b9ed1c6cea541f5, 0x7bfd4602bf4f8f19, 0x7c5b8a076dd8c0ec, 0x7cb99e05fae1142b,
	0x7d17822f3c195539, 0x7d7536b3bcdaf974, 0x7dd2bbc3bebeb75e, 0x7e30118f3a31a239,
	0x7e8d3845df08cd8a, 0x7eea301715137cfe, 0x7f46f931fcabe50a, 0x7fa393c56f468097,
}
