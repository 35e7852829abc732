//go:build !purego

#include "textflag.h"

// CHOOSE jumps to the version of a kernel for the selected level. The arguments stay in place.
#define CHOOSE(avx512, avx2) \
	CMPB ·wide(SB), $0; \
	JEQ  2(PC); \
	JMP  avx512(SB); \
	JMP  avx2(SB)

TEXT ·Xs(SB), NOSPLIT, $0-48
	CHOOSE(·xsAVX512, ·xsAVX2)

TEXT ·Scores(SB), NOSPLIT, $0-48
	CHOOSE(·scoresAVX512, ·scoresAVX2)

TEXT ·Filter(SB), NOSPLIT, $0-48
	CHOOSE(·filterAVX512, ·filterAVX2)

TEXT ·Scan(SB), NOSPLIT, $0-40
	CHOOSE(·scanAVX512, ·scanAVX2)

TEXT ·Keep(SB), NOSPLIT, $0-32
	CHOOSE(·keepAVX512, ·keepAVX2)

TEXT ·locate(SB), NOSPLIT, $0-64
	CHOOSE(·locateAVX512, ·locateAVX2)

TEXT ·Merge(SB), NOSPLIT, $0-40
	CHOOSE(·mergeAVX512, ·mergeAVX2)

TEXT ·Pick(SB), NOSPLIT, $0-72
	CHOOSE(·pickAVX512, ·pickAVX2)

TEXT ·SiftHalves(SB), NOSPLIT, $0-80
	CHOOSE(·siftHalvesAVX512, ·siftHalvesAVX2)

TEXT ·FindPlaces(SB), NOSPLIT, $0-56
	CHOOSE(·findPlacesAVX512, ·findPlacesAVX2)

TEXT ·keepBits(SB), NOSPLIT, $0-64
	CHOOSE(·keepBitsAVX512, ·keepBitsAVX2)

TEXT ·SiftLevels(SB), NOSPLIT, $0-64
	CHOOSE(·siftLevelsAVX512, ·siftLevelsAVX2)

TEXT ·Between(SB), NOSPLIT, $0-72
	CHOOSE(·betweenAVX512, ·betweenAVX2)
