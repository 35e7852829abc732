package points

import (
	"math"
	"testing"
)

// Values of R's spatstat.explore 3.1: Kcross.inhom with exact overlaps of polygons, as in
// TestCurvesInPolygonsEqualSpatstat, and the kernel sums of pcfcross and pcfcross.inhom, computed
// with spatstat's pairs and edge corrections. pcfcross itself gets these sums from R's density,
// which bins distances: its values differ by up to 0.1%. Likewise Kcross.inhom bins distances from
// the border, so the values of that correction are those of a step of 1/400 and less.
func TestInhomogeneousCurvesEqualSpatstat(t *testing.T) {
	in, err := ReadFiles(t.Context(), []string{"testdata/spatstat.csv"}, ReadOptions{CRS: Plane})
	if err != nil {
		t.Fatal(err)
	}
	in.Window = windowOf(t, holed)
	l, err := newFramed(t.Context(), in.Set)
	if err != nil {
		t.Fatal(err)
	}
	intensity := make([]float64, len(l.x))
	for i, f := range l.feature {
		intensity[i] = []float64{0.4, 0.3}[f] * (1 + 0.2*l.x[i] + 0.05*l.y[i]*l.y[i])
	}
	for _, c := range []struct {
		o    CurveOptions
		pair [2]int32
		what func(*Curve) []float64
		want [4]float64
	}{
		{CurveOptions{}, [2]int32{0, 1}, kInhom, [4]float64{0.164645268301377, 0.471815991683855, 0.929655037934338, 2.274211012357427}},
		{CurveOptions{Correction: Isotropic}, [2]int32{0, 1}, kInhom, [4]float64{0.156802719479898, 0.459544925046498, 0.869380666035823, 2.198193607249161}},
		{CurveOptions{Correction: Border}, [2]int32{0, 1}, kInhom, [4]float64{0.326017432802600, 0.822571310245637, 1.572004005673435, 1.260379550200120}},
		{CurveOptions{Correction: Uncorrected}, [2]int32{0, 1}, kInhom, [4]float64{0.156802719479898, 0.437290002093388, 0.839556696019420, 1.948601530800618}},
		{CurveOptions{}, [2]int32{0, 0}, kInhom, [4]float64{0.089935710403918, 0.303399383554642, 0.700249387778090, 1.119985015915696}},
		{CurveOptions{Correction: Isotropic}, [2]int32{0, 0}, kInhom, [4]float64{0.0862304740695644, 0.2964914048496344, 0.6972941556121337, 1.1011812965188454}},
		{CurveOptions{Correction: Border}, [2]int32{0, 0}, kInhom, [4]float64{0.179286672315111, 0.505821511306507, 1.359369461005595, 1.369637407709321}},
		{CurveOptions{}, [2]int32{0, 1}, pcf, [4]float64{0.627042645251715, 0.852970299915885, 1.009408401418450, 1.036174343674787}},
		{CurveOptions{Correction: Isotropic}, [2]int32{0, 1}, pcf, [4]float64{0.604627386996236, 0.818642582470101, 0.937534758276920, 1.027582380446050}},
		{CurveOptions{Correction: Isotropic, Kernel: Gaussian, KernelBandwidth: 0.2}, [2]int32{0, 1}, pcf, [4]float64{0.731965170905527, 0.795004198793098, 0.934090508261421, 1.065273670338913}},
		{CurveOptions{Correction: Isotropic, Kernel: Rectangular, KernelBandwidth: 0.2}, [2]int32{0, 1}, pcf, [4]float64{0.776244783538257, 0.844456415090759, 0.929291074862194, 1.039858998068721}},
		{CurveOptions{Correction: Isotropic, Kernel: Triangular, KernelBandwidth: 0.2}, [2]int32{0, 1}, pcf, [4]float64{0.709638855698621, 0.812472550610894, 0.948772230523145, 1.045717742127571}},
		{CurveOptions{Correction: Isotropic, KernelBandwidth: 0.2}, [2]int32{0, 1}, pcf, [4]float64{0.731931670239847, 0.804944441625483, 0.937758238502230, 1.058547637527543}},
		{CurveOptions{Correction: Isotropic, Kernel: Biweight, KernelBandwidth: 0.2}, [2]int32{0, 1}, pcf, [4]float64{0.724343236911766, 0.800475133138883, 0.938784530064499, 1.059992581575869}},
		{CurveOptions{Correction: Isotropic, Kernel: Cosine, KernelBandwidth: 0.2}, [2]int32{0, 1}, pcf, [4]float64{0.723961468195517, 0.798514756254706, 0.938957986078532, 1.060344821611694}},
		{CurveOptions{Correction: Isotropic, Kernel: OptCosine, KernelBandwidth: 0.2}, [2]int32{0, 1}, pcf, [4]float64{0.725763972246993, 0.803263294696316, 0.939177230692529, 1.058466392000859}},
		{CurveOptions{Correction: Isotropic, Divisor: ByPair}, [2]int32{0, 1}, pcf, [4]float64{0.523097181741664, 0.850630860094873, 0.897732235999147, 1.018881693163220}},
		{CurveOptions{}, [2]int32{0, 1}, pcfInhom, [4]float64{0.705644816693530, 0.643435122673502, 0.804604658300786, 0.815245775771977}},
		{CurveOptions{Correction: Isotropic}, [2]int32{0, 1}, pcfInhom, [4]float64{0.667617973211243, 0.605998822957735, 0.762382617847260, 0.815995673692145}},
		{CurveOptions{Correction: Isotropic}, [2]int32{0, 0}, pcfInhom, [4]float64{0.731667868275386, 0.255759568868473, 0.476107495018296, 0.409701489328581}},
	} {
		curve := &Curve{A: c.pair[0], B: c.pair[1], R: []float64{0.25, 0.5, 0.75, 1}, L: make([]float64, 4)}
		if err := curve.exact(t.Context(), l, membersOf(in.Set), intensity, &c.o); err != nil {
			t.Fatal(err)
		}
		for b, want := range c.want {
			if got := c.what(curve)[b]; math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s, %s, %v: at %v %.15g, want %.15g", c.o.Correction, c.o.Kernel, c.pair, curve.R[b], got, want)
			}
		}
	}
}

func kInhom(c *Curve) []float64   { return c.KInhom }
func pcf(c *Curve) []float64      { return c.PCF }
func pcfInhom(c *Curve) []float64 { return c.PCFInhom }

// A feature's own intensity is that of spatstat's density.ppp with leaveoneout: its sums to the
// last digits, and its correction for the border, which spatstat takes from a raster, to some
// percent.
func TestOwnIntensitiesEqualSpatstat(t *testing.T) {
	in, err := ReadFiles(t.Context(), []string{"testdata/spatstat.csv"}, ReadOptions{CRS: Plane})
	if err != nil {
		t.Fatal(err)
	}
	in.Window = windowOf(t, holed)
	l, err := newFramed(t.Context(), in.Set)
	if err != nil {
		t.Fatal(err)
	}
	members := membersOf(in.Set)
	o := &CurveOptions{Intensity: Own, Bandwidth: 1.25}
	corrected, err := l.intensities(t.Context(), o, [][2]int32{{0, 1}}, members)
	if err != nil {
		t.Fatal(err)
	}
	edge := []float64{0.264124518, 0.193573763, 0.480176339, 0.832811860, 0.833231839}
	for k, want := range []float64{0.219261514877450, 0.139607358380057, 0.436871840571008, 0.563283255907616, 0.502536885983776} {
		i := members[0][k]
		got, err := l.kernelSum(t.Context(), i, l.cellsOf(members[0], kernelReach*1.25), 1.25)
		if err != nil || math.Abs(got-want) > 1e-9*want {
			t.Errorf("point %d: %.15g, %v, want %.15g", i, got, err, want)
		}
		if math.Abs(corrected[i]-edge[k]) > 0.03*edge[k] {
			t.Errorf("point %d: corrected %v, want %v", i, corrected[i], edge[k])
		}
	}
	o.Bandwidth = 0.001
	if _, err := l.intensities(t.Context(), o, [][2]int32{{0, 1}}, members); err == nil {
		t.Error("no error for intensities of 0")
	}
}

// Intensities are sums over all other points, or those of the feature, by their definition.
func TestIntensitiesEqualTheirDefinition(t *testing.T) {
	p := drawn(3, 300, 4, 0)
	p.Window = windowOf(t, "POLYGON ((-50 -50, 1050 -50, 1050 1050, -50 1050))")
	l, err := newFramed(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	members := membersOf(p)
	for _, sigma := range []float64{60, 120, 300, 2000} {
		for _, how := range []Intensity{Shared, Own} {
			got, err := l.intensities(t.Context(), &CurveOptions{Intensity: how, Bandwidth: sigma}, [][2]int32{{0, 1}, {1, 2}}, members)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range p.Feature {
				if f == 3 { // in no pair
					continue
				}
				sum := 0.0
				for j := range p.X {
					d2 := (p.X[i]-p.X[j])*(p.X[i]-p.X[j]) + (p.Y[i]-p.Y[j])*(p.Y[i]-p.Y[j])
					if i != j && (how == Shared || p.Feature[i] == p.Feature[j]) && d2 <= 64*sigma*sigma {
						sum += math.Exp(-d2/(2*sigma*sigma)) / (2 * math.Pi * sigma * sigma)
					}
				}
				side := func(v float64) float64 {
					return (math.Erf((1050-v)/sigma/math.Sqrt2) + math.Erf((v+50)/sigma/math.Sqrt2)) / 2
				}
				want := sum / (side(p.X[i]) * side(p.Y[i]))
				if how == Shared {
					want *= float64(len(members[p.Feature[i]])) / float64(len(p.X)-1)
				}
				if math.Abs(got[i]-want) > 1e-9*want {
					t.Fatalf("%s, bandwidth %v: %v at point %d, want %v", how, sigma, got[i], i, want)
				}
			}
		}
	}
}

// Points whose density falls from left to right, independently of each other, seem to attract one
// another by K, and not by the inhomogeneous K.
func TestIntensitiesExplainSharedDensity(t *testing.T) {
	p := drawn(4, 6000, 3, 0)
	for i := range p.X {
		p.X[i] = 1000 * math.Sqrt(p.X[i]/1000)
	}
	p.Window = windowOf(t, "POLYGON ((0 0, 1000 0, 1000 1000, 0 1000))")
	for _, how := range []Intensity{Shared, Own} {
		c, err := Curves(t.Context(), p, CurveOptions{Most: 100, Bins: 2, Intensity: how, Bandwidth: 150})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range c {
			r := c.R[1]
			plain, inhom := c.K[1]/(math.Pi*r*r), c.KInhom[1]/(math.Pi*r*r)
			t.Logf("%s: K %.3f, inhomogeneous %.3f of pi r^2; g %.3f, %.3f", how, plain, inhom, c.PCF[1], c.PCFInhom[1])
			if plain < 1.2 || math.Abs(inhom-1) > 0.15 || math.Abs(c.PCFInhom[1]-1) > 0.15 {
				t.Errorf("%s: K %v, inhomogeneous %v of pi r^2, want above 1.2, and about 1", how, plain, inhom)
			}
		}
	}
}
